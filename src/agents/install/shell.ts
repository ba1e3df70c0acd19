/** A command as a shell reads it. */
export function shellText(command: readonly string[], platform: NodeJS.Platform = process.platform): string {
  return command.map(platform === 'win32' ? windowsWord : posixWord).join(' ')
}

function posixWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Agents call it by cmd.exe, PowerShell or the bash of Git: all of them take slashes and double quotes. */
function windowsWord(word: string): string {
  const path = word.replaceAll('\\', '/')
  return /^[\w@+=:,./-]+$/.test(path) ? path : `"${path}"`
}
