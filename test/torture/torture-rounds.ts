/**
 * One deployment under torture, in rounds: load and faults, then quiet, then the check of everything recorded. What a round
 * left behind is kept as digests, which the end of the run compares with the database.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isVisible } from '../../packages/a2a/src/model/record.ts'
import { isInterrupted } from '../../packages/a2a/src/model/state.ts'
import type { TaskLog } from '../cluster/check-history.ts'
import { createRetryingCalls, describeError } from '../cluster/retrying-calls.ts'
import { openWire } from '../crash/client.ts'
import { checkTortureHistory } from './check-torture-history.ts'
import { createClients } from './clients.ts'
import { scriptLedgerOf } from './hub-config.ts'
import { digestOf, findLost } from './digests.ts'
import type { Backup, Execution, TortureHistory } from './history.ts'
import { createRecorder } from './recorder.ts'
import type { Recorder } from './recorder.ts'
import type { TortureEnvironment } from './environment.ts'
import type { Fault, Deployment } from './deployment.ts'

export interface Totals {
  readonly world: string
  rounds: number
  kills: number
  readonly faults: Map<string, number>
  tasks: number
  messages: number
  eventsReceived: number
  answers: number
  pushes: number
  backups: number
  retries: number
  readonly violations: string[]
}

export interface RoundOptions {
  readonly random: () => number
  readonly clientsAtOnce: number
  readonly faultsPerRound: number
  /** The longest random pause between two faults. */
  readonly maxPauseMs: number
  /** Every so many rounds have the agents that start a Node program, and take longer for each kill. */
  readonly heavyEvery: number
  /** Every so many rounds end with a backup. */
  readonly backupEvery: number
  /** Where the history of a violation goes. */
  readonly historyFile: (round: number) => string
  /** Agents that the hub calls only after the message is durable. */
  readonly durableAgents: readonly string[]
}

/** A slow machine has fewer faults in a round, so that what is recorded does not grow with it. */
const maxLoadMs = 120_000
/** How long a round may take to settle. Tasks that have not ended by then count as stuck, however slow the machine is. */
const settleMs = 900_000
const { persist } = createRetryingCalls({ idleTimeoutMs: 60_000 })

export function createTortureRounds(world: Deployment, setting: TortureEnvironment, options: RoundOptions) {
  const { random, faultsPerRound, maxPauseMs } = options
  const { receiver } = setting
  const digests = new Map<string, string>()
  const totals: Totals = {
    world: world.name,
    rounds: 0,
    kills: 0,
    faults: new Map(),
    tasks: 0,
    messages: 0,
    eventsReceived: 0,
    answers: 0,
    pushes: 0,
    backups: 0,
    retries: 0,
    violations: [],
  }
  const ledgers = [setting.ledger, scriptLedgerOf(setting.folder)].map((file) => createLedger(file))

  /** Each kind at least once, so that a short run covers all. */
  const due = shuffled(world.faults, random)

  return { totals, round, finish, hasAllKinds: () => due.length === 0 }

  /** `mayGoOn` is called before each fault. */
  async function round(mayGoOn: () => boolean): Promise<void> {
    totals.rounds += 1
    const recorder = createRecorder()
    const backups: Backup[] = []
    const problems: string[] = []
    let hadStoreFaults = false
    receiver.misbehave()
    const isHeavy = totals.rounds % options.heavyEvery === 0
    setting.setHeavy(isHeavy)
    const clients = createClients({
      url: world.url,
      random,
      recorder,
      hookUrl: receiver.url,
      isHeavy,
    })
    const load = clients.keepUp(options.clientsAtOnce)
    const loadEndsAt = performance.now() + maxLoadMs
    for (let n = 0; n < faultsPerRound && mayGoOn() && performance.now() < loadEndsAt; n += 1) {
      await sleep(random() * maxPauseMs)
      const fault = pickFault()
      if (fault === undefined) continue
      totals.faults.set(fault.kind, (totals.faults.get(fault.kind) ?? 0) + 1)
      hadStoreFaults ||= fault.failsStore === true
      await fault.inject(random).catch((reason: unknown) => problems.push(`${fault.kind}: ${describeError(reason)}`))
      await Promise.all(world.hubs.map((hub) => hub.revive()))
    }
    await sleep(random() * maxPauseMs)
    if (totals.rounds % options.backupEvery === 0) backups.push(await takeBackup(recorder))
    receiver.behave()
    for (const failure of await load.stop()) problems.push(`a client failed: ${failure}`)
    const logs = await settled(recorder, problems)
    const failedWrites = world.hubs.map((hub) => hub.hasFailedWrites())
    const history: TortureHistory = {
      ...recorder,
      executions: ledgers.flatMap((ledger) => ledger.read()),
      arrivals: receiver.arrivals.splice(0),
      backups,
      logs,
      durableAgents: options.durableAgents,
      hadStoreFaults: hadStoreFaults || failedWrites.includes(true),
    }
    for (const count of recorder.retries.values()) totals.retries += count
    judge(history, problems)
  }

  /** All tasks of all rounds still exist, unchanged. */
  async function finish(): Promise<void> {
    const now = new Map((await world.readLogs(new Map())).map((log) => [log.taskId, digestOf(log)]))
    totals.violations.push(...findLost(digests, now))
    totals.kills = world.kills
  }

  function pickFault(): Fault | undefined {
    if (due.length > 0 && random() < 0.5) return due.pop()
    let point = random() * world.faults.reduce((sum, { share }) => sum + share, 0)
    return world.faults.find(({ share }) => (point -= share) < 0)
  }

  async function takeBackup({ receivedSeqs }: Recorder): Promise<Backup> {
    totals.backups += 1
    const receivedBefore = new Map(receivedSeqs)
    return { name: `backup ${totals.backups}`, receivedBefore, logs: await world.backup([...receivedBefore.keys()]) }
  }

  /** Waits until no task is WORKING and every webhook got its notifications, and cancels tasks that wait for a client that is gone. */
  async function settled({ hooks }: Recorder, problems: string[]): Promise<readonly TaskLog[]> {
    const giveUpAt = performance.now() + settleMs
    const isLate = (): boolean => performance.now() > giveUpAt
    for (;;) {
      const left = await world.unfinished()
      if (left.length === 0 || isLate()) break
      for (const { id, agent } of left) {
        const wire = openWire(world.directUrl, agent, { version: '1.0', binding: 'JSONRPC' })
        // A task that an agent opened belongs to that agent; it ends with its parent task.
        const task = await persist(() => wire.call('GetTask', { id })).catch(() => undefined)
        if (task !== undefined && isInterrupted(task.status.state)) {
          await persist(() => wire.call('CancelTask', { id })).catch(() => {})
        }
      }
      await sleep(100)
    }
    const logs = await world.readLogs(digests)
    const lastSeqs = new Map(
      logs.map(({ taskId, records }) => [taskId, records.findLast(({ body }) => isVisible(body))?.seq ?? 0]),
    )
    for (const { taskId, key } of hooks) {
      const last = lastSeqs.get(taskId)
      const hasCome = (): boolean =>
        receiver.arrivals.some((one) => one.key === key && one.seq === last && one.acknowledged)
      while (last !== undefined && !hasCome() && !isLate()) await sleep(50)
    }
    if (isLate()) problems.push(`the round was not at rest after ${settleMs} ms`)
    return logs
  }

  function judge(history: TortureHistory, problems: readonly string[]): void {
    const crashes = world.hubs.flatMap((hub) => (hub.crashes as string[]).splice(0))
    const violations = [...problems, ...crashes, ...checkTortureHistory(history)]
    totals.kills = world.kills
    totals.tasks += history.logs.length
    totals.messages += history.sent.length
    totals.eventsReceived += history.streams.reduce((sum, { events }) => sum + events.length, 0)
    totals.answers += history.polls.length
    totals.pushes += history.arrivals.length
    for (const log of history.logs) digests.set(log.taskId, digestOf(log))
    if (violations.length === 0) return
    totals.violations.push(...violations)
    const file = options.historyFile(totals.rounds)
    writeFileSync(
      file,
      JSON.stringify({ violations, ...history }, (_, value: unknown) => toPlainJson(value), 1),
    )
    console.error(`${world.name}, round ${totals.rounds}: ${violations.length} violations; the history is in ${file}`)
    for (const violation of violations.slice(0, 10)) console.error(`  ${violation}`)
  }
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((item) => [random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)
}

function toPlainJson(value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value
}

/** Lines that agents append to a file. A program records its message as received, without the process. */
function createLedger(file: string) {
  let readBytes = 0
  return {
    read(): readonly Execution[] {
      let size
      try {
        size = statSync(file).size
      } catch {
        return []
      }
      const text = readFileSync(file).subarray(readBytes, size).toString('utf8')
      readBytes = size
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => {
          const { agent = 'script', messageId, attempt = 1, by = '', atNs } = JSON.parse(line) as Partial<Execution>
          const execution = { agent, messageId: String(messageId), attempt, by: by || crypto.randomUUID() }
          return atNs === undefined ? execution : { ...execution, atNs }
        })
    },
  }
}
