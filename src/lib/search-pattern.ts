/** The pattern of `LIKE … ESCAPE '!'` for texts that contain this one, whatever characters it has. */
export function containing(text: string): string {
  return `%${text.replace(/[!%_]/g, (character) => `!${character}`)}%`
}
