/** Runs `parley erase`: preview, confirmation, progress and receipt. */
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { caller as callerSchema, erasureToJson } from '../../admin/routes/erasures.ts'
import { defaultReceiptMs, excludedData, type ErasureCounts } from '../../erase/erasure-record.ts'
import { createErasureService, type ErasureService } from '../../erase/erasure-service.ts'
import { requestAdmin } from '../admin-request.ts'
import { CliError, exitCodes, usageError, type Flags, type Terminal } from '../command.ts'
import { printResult } from '../output.ts'
import { openOwnStore } from './store-target.ts'

type ErasureJson = ReturnType<typeof erasureToJson>

/** Where an erasure happens. */
interface EraseTarget {
  preview(caller: string): Promise<ErasureCounts>
  start(caller: string, compact: boolean): Promise<ErasureJson>
  /** The current state. */
  read(id: string): Promise<ErasureJson>
  close(): Promise<void>
}

const pollMs = 250

const titles: Readonly<Record<keyof ErasureCounts, string>> = {
  tasks: 'tasks',
  logBatches: 'log rows',
  snapshots: 'snapshots',
  blobs: 'blobs',
  pushConfigs: 'webhooks',
  pushAttempts: 'delivery attempts',
  messageClaims: 'message claims',
  keys: 'API keys',
  sessions: 'console sessions',
  traces: 'traces',
  agentEntries: 'entries of agents',
  counters: 'counters',
  auditEntries: 'audit entries (pseudonym)',
  journalEntries: 'other entries',
}

export async function runErase(flags: Flags, terminal: Terminal): Promise<number> {
  const caller = flags.value('caller') ?? ''
  if (caller === '') throw usageError('Missing caller: set --caller <id>.')
  const checked = callerSchema.safeParse(caller)
  if (!checked.success) throw usageError(`--caller ${checked.error.issues[0]?.message}.`)
  const target = await openTarget(flags, terminal)
  try {
    if (flags.has('dry-run')) {
      const counts = await target.preview(caller)
      const value = { caller, counts, excluded: excludedData }
      printResult(flags, terminal, value, () => [
        'Would be erased:',
        ...countLines(counts),
        'Not included:',
        ...excludedData.map((line) => `  ${line}`),
      ])
      return 0
    }
    if (!flags.has('yes')) await confirm(terminal, caller, await target.preview(caller))
    const begun = await target.start(caller, !flags.has('no-compact'))
    const receipt = await finished(target, begun, terminal)
    printResult(flags, terminal, receipt, () => receiptLines(receipt))
    if (flags.has('no-compact') || receipt.compaction?.isDone === true) return 0
    terminal.printError(
      'The data is erased, but the store was not compacted: its files may still contain text of the caller. Repeat the command.',
    )
    return exitCodes.failure
  } finally {
    await target.close()
  }
}

async function openTarget(flags: Flags, terminal: Terminal): Promise<EraseTarget> {
  const store = await openOwnStore(flags, terminal)
  if (store === undefined) {
    return {
      preview: async (caller) =>
        (await requestAdmin<{ counts: ErasureCounts }>(flags, terminal, 'POST', '/admin/erasures/preview', { caller }))
          .counts,
      start: (caller, compact) => requestAdmin(flags, terminal, 'POST', '/admin/erasures', { caller, compact }),
      read: (id) => requestAdmin(flags, terminal, 'GET', `/admin/erasures/${id}`),
      async close() {},
    }
  }
  let failure: string | undefined
  const service: ErasureService = createErasureService({
    store,
    // Its only warning: the work ended with an error. Without a hub no other process continues it.
    log: { info() {}, warn: (message, fields) => (failure = causeText(fields?.['cause']) ?? message) },
    now: Date.now,
    receiptMs: () => defaultReceiptMs,
  })
  return {
    preview: service.preview,
    start: async (caller, compact) =>
      erasureToJson(await service.request({ caller, compact, requestedBy: 'operator' })),
    async read(id) {
      if (failure !== undefined)
        throw new CliError(`Erasure ${id} is not finished: ${failure}. Repeat the command to continue it.`)
      const record = await service.get(id)
      if (record === undefined) throw new CliError(`Unknown erasure ${id}.`)
      return erasureToJson(record)
    },
    async close() {
      await service.close()
      await store.close()
    },
  }
}

/** Throws if the caller is not typed. */
async function confirm(terminal: Terminal, caller: string, counts: ErasureCounts): Promise<void> {
  if (!terminal.isErrorTerminal) throw usageError('Erasing cannot be undone: confirm it with --yes.')
  for (const line of ['This erases for good:', ...countLines(counts), `Type ${caller} to continue:`])
    terminal.printError(line)
  const lines = createInterface({ input: terminal.input })
  const [typed] = (await Promise.race([
    once(lines, 'line'),
    once(lines, 'close'),
    terminal.untilShutdown().then(() => []),
  ])) as string[]
  lines.close()
  if (typed?.trim() !== caller) throw new CliError('Not confirmed. Nothing was erased.')
}

/** An interrupted command leaves a recorded erasure, which the hub or the same command continues. */
async function finished(target: EraseTarget, begun: ErasureJson, terminal: Terminal): Promise<ErasureJson> {
  let isStopped = false
  void terminal.untilShutdown().then(() => (isStopped = true))
  let shown = ''
  for (let current = begun; ; current = await target.read(begun.id)) {
    const text = `${current.state}, ${current.counts.tasks} tasks erased`
    if (terminal.isErrorTerminal && text !== shown) terminal.printError(text)
    shown = text
    if (current.state === 'done') return current
    if (isStopped)
      throw new CliError(
        `Interrupted. Erasure ${begun.id} is recorded: a running hub continues it, or repeat the command.`,
      )
    await sleep(pollMs)
  }
}

function receiptLines({ id, pseudonym, counts, compaction, excluded, requestedBy, finishedAt }: ErasureJson) {
  return [
    `Receipt ${id}, finished ${finishedAt}, requested by ${requestedBy}`,
    `Pseudonym in the audit: ${pseudonym}`,
    'Erased:',
    ...countLines(counts),
    `Compacted: ${compactionText(compaction)}`,
    'Not included:',
    ...excluded.map((line) => `  ${line}`),
  ]
}

function compactionText(compaction: ErasureJson['compaction']): string {
  if (compaction === undefined) return 'no. Deleted data may stay in free space: repeat without --no-compact'
  return compaction.isDone ? 'yes' : `no: ${compaction.reason ?? 'unknown'}`
}

function countLines(counts: ErasureCounts): readonly string[] {
  const found = Object.entries(counts).filter(([, count]) => count > 0)
  if (found.length === 0) return ['  nothing']
  return found.map(([name, count]) => `  ${String(count).padStart(8)} ${titles[name as keyof ErasureCounts]}`)
}

function causeText(cause: unknown): string | undefined {
  return cause instanceof Error ? cause.message : undefined
}
