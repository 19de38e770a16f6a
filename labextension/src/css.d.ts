/** A style sheet is bundled as its minified text (`build.mjs`). */
declare module '*.css' {
  const text: string;
  export default text;
}
