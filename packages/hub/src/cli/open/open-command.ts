/** `parley open`: opens the console in a browser, signed in by a one-time code. */
import { hubDetails, hubFlags, hubUrl, namedUrl, requestAdmin } from '../admin-request.ts'
import type { Command, Terminal } from '../command.ts'
import { commandText } from '../command-text.ts'
import { wantsJson } from '../output.ts'

/** Returns whether a browser was started. */
export type OpenBrowser = (url: string, environment: Terminal['environment']) => Promise<boolean>

export const openCommand: Command = createOpenCommand(async (url, environment) =>
  (await import('./open-browser.ts')).openBrowser(url, environment),
)

export function createOpenCommand(openBrowser: OpenBrowser): Command {
  return {
    name: 'open',
    summary: 'Opens the console in a browser, signed in.',
    details: [
      'The link signs in once, within a minute. Without a browser on this machine, the command prints the link.',
      '--print                 Only prints the link, to open it on another machine.',
      ...hubDetails,
      'With -o json, prints the link and when it expires.',
    ],
    flags: { ...hubFlags, print: { type: 'boolean' } },
    async run(flags, terminal) {
      const made = await requestAdmin<{ path: string; publicUrl?: string; expiresAt: string }>(
        flags,
        terminal,
        'POST',
        '/admin/session/code',
      )
      // As the hub has it: the configuration of this folder must not choose who receives the code.
      const named = await namedUrl(flags, terminal)
      const publicUrl = named ?? made.publicUrl ?? (await hubUrl(flags, terminal))
      const link = `${publicUrl.replace(/\/+$/, '')}${made.path}`
      if (wantsJson(flags)) {
        terminal.printData(JSON.stringify({ url: link, expiresAt: made.expiresAt }, null, 2))
        return 0
      }
      if (!flags.has('print') && (await openBrowser(link, terminal.environment))) {
        const printCommand = commandText(flags, terminal, 'open --print')
        terminal.print(`Opened ${publicUrl} in a browser. If you do not see it: \`${printCommand}\``)
        return 0
      }
      terminal.print(link)
      terminal.printError('Open this link in a browser. It signs you in once, within a minute.')
      return 0
    },
  }
}
