/** Files embedded in the executable: as text, or (the large one) as the path to read it from. */
declare module '*.css' {
  const text: string
  export default text
}
declare module '*.js' {
  const textOrPath: string
  export default textOrPath
}
declare module '*.svg' {
  const text: string
  export default text
}
