import { defineConfig } from "vitest/config";

const conditions = ["source"]; // the extension's tests run against the client's source, not its last build

export default defineConfig({
  resolve: { conditions }, // with a DOM
  ssr: { resolve: { conditions } }, // in Node
  test: {
    include: ["client/tests/**/*.test.ts", "extension/tests/**/*.test.ts", "dashboard/tests/**/*.test.ts"],
    exclude: ["**/slow/**", "**/node_modules/**"], // `npm run e2e` runs the slow ones
    environment: "node",
    testTimeout: 60_000, // a hang; on a busy machine five seconds are not enough
  },
});
