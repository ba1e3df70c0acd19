import { type Command, Option } from 'commander'
import { changeSettings } from '../../features/organization/operations/settings.ts'
import { CommandError } from '../failures.ts'
import { NONE } from '../flags/none.ts'
import { addAction } from '../operations.ts'
import { settingsText } from './settings.ts'

export function addSettingsSetCommand(settings: Command): void {
  addAction(settings, changeSettings, {
    name: 'set',
    description: 'Change settings; settings you omit keep their values',
    flags: {
      time_zone: '--time-zone <zone>',
      week_start: '--week-start <day>',
      locale: {
        flag: '--locale <tag>',
        doc: 'locale that writes dates and numbers in bills, e-mails and pages, such as de-CH; none for ISO dates and English numbers',
      },
      currency: '--currency <code>',
      public_url: {
        flag: '--public-url <url>',
        doc: 'URL at which people and agents reach the server, used in links; an option of a server takes precedence; none clears it',
      },
      sheet_required_fields: {
        flag: '--sheet-required-fields <fields>',
        doc: 'up to three fields that entries on token sheets must have, such as ticket,label:team; none for no more than usual',
        read: (text) => (text === NONE ? [] : text.split(',').map((field) => field.trim())),
      },
      email: '--email <address>',
      markup: {
        flag: '--markup <percent>',
        doc: 'default markup on costs, used if neither project nor client has one; none clears it',
      },
      bill_number_format: {
        flag: '--bill-number-format <format>',
        doc: 'format of bill numbers, such as {year}-{sequence:4}',
      },
    },
    options: [new Option('--logo <file>', 'PNG or JPEG logo for bills, up to 256 KiB; none removes it')],
    examples: [
      'tally settings set --time-zone Europe/Berlin --currency EUR',
      'tally settings set --locale de-CH',
      'tally settings set --public-url https://tally.example.com',
      'tally settings set --unknown-projects hold',
      'tally settings set --sheet-required-fields ticket,label:team',
      'tally settings set --retention-texts 24 --retention-audit none',
      'tally settings set --email bills@example.com --tax-id DE123456789 --due-days 14 --logo logo.png',
    ],
    // A server removes what is older than a new period at its next turn.
    asks: (flags) => Object.entries(flags).some(([name, value]) => name.startsWith('retention') && value !== NONE),
    confirm: () => 'A running server removes what is older than these periods, which cannot be undone. Set them?',
    async run({ organization }, call, { logo }: { logo?: string }) {
      const picture = logo === undefined ? undefined : await logoOf(logo)
      const changed = await changeSettings.run({ organization }, call)
      if (picture === undefined) return changed
      return organization.bodyOf(await organization.changeLogo(picture, call.party.by))
    },
    show: settingsText,
  })
}

/** The image that a flag names; null to remove the logo. */
async function logoOf(path: string): Promise<Uint8Array | null> {
  if (path === NONE) return null
  try {
    return await Bun.file(path).bytes()
  } catch (error) {
    throw new CommandError(`--logo: ${path} cannot be read (${(error as Error).message}).`)
  }
}
