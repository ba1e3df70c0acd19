/**
 * Texts for a terminal: what others have written, such as the server that a command asks, must not move the cursor, hide lines or
 * fill the clipboard. Control characters besides line breaks and tabs are written as JSON writes them, which stays valid.
 */
export const escaped = (text: string): string =>
  text.replace(/(?![\n\t])\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
