import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import type { Command } from 'commander'
import { timestamp } from '../../lib/duration.ts'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { note, print } from '../terminal/print.ts'
import { addBackupCommand } from './backup.ts'
import { addBackupListCommand } from './list.ts'
import { addBackupVerifyCommand } from './verify.ts'

export function addBackupCommands(program: Command): void {
  const backup = addBackupCommand(program)
  addBackupListCommand(backup)
  addBackupVerifyCommand(backup)
  addBackupKeygenCommand(backup)
}

function addBackupKeygenCommand(backup: Command): void {
  backup
    .command('keygen')
    .description('Create a pair of keys for encrypted backups, and print the public one')
    .argument('<file>', 'new file for the private key, in the format of age-keygen')
    .addHelpText(
      'after',
      `
The server needs the public key only: TALLY_BACKUP_RECIPIENTS=age1…. Keep the file away from the server, and a copy of it: without
it, nobody can restore the backups. Programs print the public key to standard output.
${examples('tally backup keygen tally-backups.key')}`,
    )
    .action(async (file: string) => {
      const { generateKeys } = await import('../../database/backup/remote/encryption.ts')
      const { identity, recipient } = await generateKeys()
      let created: number
      try {
        created = openSync(file, 'wx', 0o600)
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        if (code !== 'EEXIST') throw new CommandError(`${file} cannot be written (${message}).`)
        throw new CommandError(`${file} already exists. A key is never overwritten; choose another name.`)
      }
      writeSync(created, `# created: ${timestamp(Date.now())}\n# public key: ${recipient}\n${identity}\n`)
      fsyncSync(created)
      closeSync(created)
      note(
        `The private key is in ${file}. Store copies of it in two safe places, and none on the server. The public key:`,
      )
      print(recipient)
    })
}
