import { mergeConfig } from "vitest/config";
import tests from "./vitest.config.ts";

// Measurements in browsers: they print tables, and assert nothing about durations.
const config = mergeConfig(tests, { test: { disableConsoleIntercept: true } });
config.test.include = ["e2e/**/*.bench.ts"];

export default config;
