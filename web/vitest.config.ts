import { configDefaults, defineConfig } from "vitest/config";

const conditions = ["source"]; // the extension's tests run against the client's source, not its last build
const BACKGROUND = "extension/tests/background/**/*.test.ts";

export default defineConfig({
  resolve: { conditions }, // with a DOM
  ssr: { resolve: { conditions } }, // in Node
  test: {
    environment: "node",
    testTimeout: 60_000, // a hang; on a busy machine five seconds are not enough
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: ["client/tests/**/*.test.ts", "extension/tests/**/*.test.ts", "dashboard/tests/**/*.test.ts"],
          exclude: [...configDefaults.exclude, "**/slow/**", BACKGROUND], // `npm run e2e` runs the slow ones
          isolate: false, // most of these files take less time than a new process with all modules would
        },
      },
      // Modules of the background have state, and one of these tests replaces some of them.
      { extends: true, test: { name: "background", include: [BACKGROUND] } },
    ],
  },
});
