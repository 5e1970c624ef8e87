import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// One file at a time: two browsers at once would share two cores with a collector.
export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  resolve: { conditions: ["source"] },
  test: {
    include: ["e2e/**/*.test.ts", "client/tests/slow/**/*.test.ts"],
    environment: "node",
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } }, // a second is not enough on a busy machine
  },
});
