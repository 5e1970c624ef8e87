import { defineConfig } from "vitest/config";

export default defineConfig({
  ssr: { resolve: { conditions: ["source"] } }, // the extension's tests run against the client's source, not its last build
  test: {
    include: ["client/tests/**/*.test.ts", "extension/tests/**/*.test.ts"],
    exclude: ["**/slow/**", "**/node_modules/**"], // `npm run e2e` runs the slow ones
    environment: "node",
  },
});
