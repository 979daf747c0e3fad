/** `parley audit export`: the audit of a running hub as JSON lines, from a cursor. */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { neutralize } from '@parley/a2a/command-line'
import { requestAdmin } from './admin-request.ts'
import { usageError, type Flags, type Terminal } from './command.ts'
import { writeOutput } from './output.ts'

interface AuditExportPage {
  readonly entries: readonly object[]
  readonly after: string
  readonly isEnd: boolean
}

/** How often new entries are looked for. */
const followMs = 2_000

export async function exportAudit(flags: Flags, terminal: Terminal): Promise<number> {
  const named = flags.value('cursor-file')
  const file = named === undefined ? undefined : resolve(terminal.cwd, named)
  if (file !== undefined && flags.value('after') !== undefined)
    throw usageError('Set --after or --cursor-file, not both.')
  const stopping = new AbortController()
  if (flags.has('follow')) void terminal.untilShutdown().then(() => stopping.abort())
  let after = flags.value('after') ?? (file === undefined ? undefined : await readCursor(file))
  const since = sinceOf(flags)
  for (;;) {
    const page = await readPage(flags, terminal, after, since)
    const json = page.entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
    const lines = terminal.isOutputTerminal ? neutralize(json) : json
    // Before the cursor moves: entries that were not written are exported again.
    if (lines !== '') await writeOutput(terminal, lines)
    if (file !== undefined && page.after !== after) await writeCursor(file, page.after)
    after = page.after
    if (stopping.signal.aborted || (page.isEnd && !flags.has('follow'))) break
    if (page.isEnd) await pause(stopping.signal)
  }
  if (file === undefined) terminal.printError(`Continue with: --after ${after}`)
  return 0
}

function readPage(
  flags: Flags,
  terminal: Terminal,
  after: string | undefined,
  since: string | undefined,
): Promise<AuditExportPage> {
  const query = new URLSearchParams({
    ...(after === undefined ? {} : { after }),
    ...(since === undefined ? {} : { since }),
  })
  return requestAdmin<AuditExportPage>(flags, terminal, 'GET', `/admin/audit/export?${query.toString()}`)
}

const ageUnits: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** As the hub reads it: with seconds and an offset. */
function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))
}

/** An age is counted back from now. */
function sinceOf(flags: Flags): string | undefined {
  const since = flags.value('since')
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(since ?? '') ?? []
  if (since !== undefined && count === undefined && !isTime(since))
    throw usageError(
      `--since must be a time such as 2026-01-31T12:00:00Z, or an age such as 24h, not ${JSON.stringify(since)}.`,
    )
  if (count === undefined) return since
  return new Date(Date.now() - Number(count) * (ageUnits[unit] ?? 0)).toISOString()
}

async function readCursor(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim() || undefined
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw reason
  }
}

/** Written to another file first: a killed export leaves the previous cursor. */
async function writeCursor(file: string, cursor: string): Promise<void> {
  await writeFile(`${file}.partial`, `${cursor}\n`, { flush: true })
  await rename(`${file}.partial`, file)
}

async function pause(signal: AbortSignal): Promise<void> {
  await wait(followMs, undefined, { signal }).catch(() => {})
}
