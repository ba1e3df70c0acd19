/** The e-mail about a failed backup. Pure. */

/** What failed: the backup itself, its upload, or the verification of uploaded ones. */
export type BackupStep = 'backup' | 'upload' | 'verification'

const SUBJECTS: Record<BackupStep, string> = {
  backup: 'A scheduled backup failed',
  upload: 'A backup could not be uploaded',
  verification: 'Uploaded backups could not be verified',
}

export const subjectOf = (step: BackupStep): string => SUBJECTS[step]

export function textOf(step: BackupStep, error: string, organization: string): string {
  return [
    `${SUBJECTS[step]} on ${organization}'s Tally server:`,
    '',
    `  ${error.replaceAll(/\p{Cc}/gu, ' ')}`,
    '',
    'Tally tries again, and sends no other e-mail about this before it has succeeded and fails again.',
    'On the server, this shows the state of backups:',
    '  tally doctor',
    '  tally backup list',
  ].join('\n')
}
