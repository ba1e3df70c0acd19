/**
 * Completion scripts. Each follows the words of a command line to the command that they call, and offers what may follow
 * it; where nothing fits, the shell completes file names. They are plain text without calls of Tally, so that the Tab key
 * answers at once.
 */
import type { Completed, Word } from './tree.ts'

export type Shell = keyof typeof SCRIPTS

/** As one word of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Every command as one word; other words, such as arguments, are passed over. */
const commandsIn = (tree: readonly Completed[]) =>
  tree.filter(({ path }) => path !== '').map(({ path }) => quoted(path))

/** The options whose next word is their value, even if a command has that name. */
const valuedIn = (tree: readonly Completed[]) => [
  ...new Set(tree.flatMap(({ words }) => words.filter(({ takesValue }) => takesValue).map(({ word }) => word))),
]

const cases = (tree: readonly Completed[], linesOf: (completed: Completed) => string) =>
  tree.map((completed) => `    ${quoted(completed.path)}) ${linesOf(completed)} ;;`).join('\n')

/** Follows the words of an array to the command that they call, `at`, which bash and zsh do alike. */
const followed = (tree: readonly Completed[], words: string) => `  for word in "\${${words}}"; do
    if [ -n "$isValue" ]; then isValue=''; continue; fi
    case "$word" in
    ${valuedIn(tree).join('|')}) isValue=yes; continue ;;
    esac
    next=\${at:+$at }$word
    case "$next" in
    ${commandsIn(tree).join('|')}) at=$next ;;
    esac
  done`

const bash = (tree: readonly Completed[]) => `# bash completion of tally
_tally() {
  local at='' word next words='' isValue=''
${followed(tree, 'COMP_WORDS[@]:1:COMP_CWORD-1')}
  case "$at" in
${cases(tree, ({ words }) => `words=${quoted(words.map(({ word }) => word).join(' '))}`)}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _tally tally
`

/** `_describe` separates a word from its description by a colon. */
const described = ({ word, description }: Word) => quoted(`${word.replaceAll(':', '\\:')}:${description}`)

const zsh = (tree: readonly Completed[]) => `#compdef tally
# zsh completion of tally
_tally() {
  local at='' word next isValue=''
  local -a entries
${followed(tree, '(@)words[2,CURRENT-1]')}
  case "$at" in
${cases(tree, ({ words }) => `entries=(${words.map(described).join(' ')})`)}
  esac
  _describe -t commands tally entries || _files
}
if [ "$funcstack[1]" = _tally ]; then _tally "$@"; else compdef _tally tally; fi
`

const fish = (tree: readonly Completed[]) => `# fish completion of tally
function __tally_at
  set -l at ''
  set -l isValue no
  for word in (commandline -opc)[2..-1]
    if test $isValue = yes
      set isValue no
    else if contains -- "$word" ${valuedIn(tree).join(' ')}
      set isValue yes
    else
      set -l next (string trim -- "$at $word")
      contains -- "$next" ${commandsIn(tree).join(' ')}; and set at $next
    end
  end
  test "$at" = "$argv[1]"
end
${tree.flatMap(({ path, words }) => words.map((word) => fishLine(path, word))).join('\n')}
`

/** Where a command is expected, a file is not. */
function fishLine(path: string, { word, description, kind, takesValue }: Word): string {
  const what =
    kind === 'command' ? `-f -a ${word}` : word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`
  const value = takesValue ? ' -r' : ''
  return `complete -c tally -n ${quoted(`__tally_at ${quoted(path)}`)} ${what}${value} -d ${quoted(description)}`
}

export const SCRIPTS = { bash, zsh, fish }
