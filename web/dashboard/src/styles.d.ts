/** esbuild turns imported styles into the page's style sheet. */
declare module "*.css";
