import type { Command } from 'commander'
import { addBackupCommand } from './backup.ts'
import { addBackupKeygenCommand } from './keygen.ts'
import { addBackupListCommand } from './list.ts'
import { addBackupVerifyCommand } from './verify.ts'

export function addBackupCommands(program: Command): void {
  const backup = addBackupCommand(program)
  addBackupListCommand(backup)
  addBackupVerifyCommand(backup)
  addBackupKeygenCommand(backup)
}
