/** `parley open`: opens the console in a browser, signed in by a one-time code. */
import { hubUrl, namedUrl, requestAdmin } from '../admin-request.ts'
import type { Flags, Terminal } from '../command.ts'
import { commandText } from '../command-text.ts'
import { wantsJson } from '../output.ts'
import { openBrowser } from './open-browser.ts'

/** Returns whether a browser was started. */
export type OpenBrowser = (url: string, environment: Terminal['environment']) => Promise<boolean>

export async function openConsole(
  flags: Flags,
  terminal: Terminal,
  startBrowser: OpenBrowser = openBrowser,
): Promise<number> {
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
  if (!flags.has('print') && (await startBrowser(link, terminal.environment))) {
    const printCommand = commandText(flags, terminal, 'open --print')
    terminal.print(`Opened ${publicUrl} in a browser. If you do not see it: \`${printCommand}\``)
    return 0
  }
  terminal.print(link)
  terminal.printError('Open this link in a browser. It signs you in once, within a minute.')
  return 0
}
