declare module '*.svg' {
  /** The file's contents. */
  const svg: string;
  export default svg;
}
