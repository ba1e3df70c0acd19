/** A command, quoted for a shell. */
export function shellText(command: readonly string[], platform: NodeJS.Platform = process.platform): string {
  return command.map(platform === 'win32' ? windowsWord : posixWord).join(' ')
}

function posixWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Agents run it with cmd.exe, PowerShell or Git's bash: all of them accept slashes and double quotes. */
function windowsWord(word: string): string {
  const path = word.replaceAll('\\', '/')
  return /^[\w@+=:,./-]+$/.test(path) ? path : `"${path}"`
}
