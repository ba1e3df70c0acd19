#!/usr/bin/env node
// Starts the executable for this machine, which the package manager has put into a package of its own. This is CommonJS
// and loads nothing that a start does not need: it delays every command.
'use strict'

const { spawn } = require('node:child_process')

const SCOPE = '@tally-agents'

const os = process.platform === 'win32' ? 'windows' : process.platform
const file = os === 'windows' ? 'tally.exe' : 'tally'
/** On Linux, the C library decides between the two. */
const names = [`${os}-${process.arch}`, ...(os === 'linux' ? [`${os}-${process.arch}-musl`] : [])]

function findExecutable() {
  const found = []
  for (const name of names) {
    try {
      found.push({ isForMusl: name.endsWith('-musl'), path: require.resolve(`${SCOPE}/${name}/bin/${file}`) })
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  // Package managers that do not know the field "libc", such as Yarn 1, install both.
  if (found.length > 1) return found.find(({ isForMusl }) => isForMusl === isMusl()).path
  return found[0]?.path
}

function isMusl() {
  // Otherwise the report looks up the name of every address that this process is connected with.
  process.report.excludeNetwork = true
  return !process.report.getReport().header.glibcVersionRuntime
}

function explainMissing() {
  const { name, optionalDependencies } = require('../package.json')
  const packages = names.map((each) => `${SCOPE}/${each}`).filter((each) => each in optionalDependencies)
  if (packages.length === 0) {
    return `There is no executable for ${process.platform} on ${process.arch}. Build Tally from its source code instead.`
  }
  return `${packages.join(' or ')} is not installed. It contains the executable for this machine.
Either optional dependencies were left out (--omit=optional, --no-optional), or node_modules comes from another platform.
Remove node_modules, and install ${name} again on this machine, with optional dependencies.`
}

function run(path) {
  const child = spawn(path, process.argv.slice(2), { stdio: 'inherit' })
  const handlers = new Map()
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT']) {
    // A terminal sends Ctrl+C to both processes, and a server that gets it twice does not finish its requests.
    const isSentToBoth = (signal === 'SIGINT' || signal === 'SIGQUIT') && process.stdin.isTTY
    const handler = () => isSentToBoth || child.kill(signal)
    process.on(signal, handler)
    handlers.set(signal, handler)
  }
  child.on('error', (error) => {
    console.error(`tally: ${path} could not be started: ${error.message}`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 1
    if (signal === null) return
    // Ends in the same way, so that shells and supervisors see the signal.
    for (const [each, handler] of handlers) process.off(each, handler)
    process.kill(process.pid, signal)
  })
}

const executable = findExecutable()
if (executable) {
  run(executable)
} else {
  console.error(`tally: ${explainMissing()}`)
  process.exitCode = 1
}
