/**
 * Whether a program can only continue with more input: all its threads and child processes wait without a timeout, one of them for
 * input, and none has a network connection. On Linux this is visible in /proc. It takes 0.2 s to recognize a filter such as `wc`,
 * which would otherwise be waited for until a timeout.
 */
import { readdir, readFile, readlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** What a thread waits for. */
type Wait = 'input' | 'thread' | undefined

interface SystemCall {
  readonly wait: Exclude<Wait, undefined>
  /** Position of the timeout among the arguments: the call waits for ever if it is `forever`. */
  readonly timeout?: { readonly position: number; readonly forever: RegExp }
  /** The first argument must be stdin. */
  readonly isRead?: true
}

const nullPointer = /^0x0$/
const minusOne = /^0x(f{8}|f{16})$/
const read: SystemCall = { wait: 'input', isRead: true }
const epollWait: SystemCall = { wait: 'input', timeout: { position: 3, forever: minusOne } }
const epollWait2: SystemCall = { wait: 'input', timeout: { position: 3, forever: nullPointer } }
const poll: SystemCall = { wait: 'input', timeout: { position: 2, forever: minusOne } }
const ppoll: SystemCall = { wait: 'input', timeout: { position: 2, forever: nullPointer } }
const select: SystemCall = { wait: 'input', timeout: { position: 4, forever: nullPointer } }
const futex: SystemCall = { wait: 'thread', timeout: { position: 3, forever: nullPointer } }
const waitForChild: SystemCall = { wait: 'thread' }

/** By architecture and number. A call that is not listed counts as work. */
const systemCalls: Readonly<Record<string, Readonly<Record<string, SystemCall>>>> = {
  x64: {
    0: read,
    7: poll,
    23: select,
    61: waitForChild,
    130: waitForChild,
    202: futex,
    232: epollWait,
    247: waitForChild,
    270: select,
    271: ppoll,
    281: epollWait,
    441: epollWait2,
  },
  arm64: {
    22: epollWait,
    63: read,
    72: select,
    73: ppoll,
    95: waitForChild,
    98: futex,
    133: waitForChild,
    260: waitForChild,
    441: epollWait2,
  },
}

const sampleMs = 60
/** Equal samples in a row, including the CPU time: a program that works between two samples is not blocked. */
const samples = 4

/** Resolves with `true` once it is blocked. With `false` if that cannot be seen here, or when `signal` aborts. */
export async function becomesBlockedOnInput(pid: number, signal: AbortSignal): Promise<boolean> {
  if (process.platform !== 'linux' || systemCalls[process.arch] === undefined) return false
  let last: string | undefined
  for (let equal = 0; ;) {
    const state = await blockedState(pid)
    if (state === 'hidden' || signal.aborted) return false
    equal = state !== 'working' && state.facts === last ? equal + 1 : 0
    last = state === 'working' ? undefined : state.facts
    if (equal >= samples - 1) return true
    await sleep(sampleMs, undefined, { signal }).catch(() => {})
  }
}

/** With all that would change if the program did something. */
type BlockedState = { readonly facts: string } | 'working' | 'hidden'

async function blockedState(pid: number): Promise<BlockedState> {
  try {
    const found = await Promise.all((await processTree(pid)).map(processState))
    const isBlocked = found.every((one) => one !== undefined) && found.some((one) => one?.waits.includes('input'))
    return isBlocked ? { facts: JSON.stringify(found) } : 'working'
  } catch (reason) {
    // A process or thread may end while it is read. Some processes hide their state.
    const { code } = reason as NodeJS.ErrnoException
    return code === 'EACCES' || code === 'EPERM' ? 'hidden' : 'working'
  }
}

/** The process and its child processes. */
async function processTree(pid: number): Promise<readonly number[]> {
  const threads = await readdir(`/proc/${pid}/task`)
  const lists = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8')))
  const children = lists.flatMap((list) => list.split(' ').filter((one) => one !== '')).map(Number)
  return [pid, ...(await Promise.all(children.map(processTree))).flat()]
}

interface ProcessState {
  readonly waits: readonly Wait[]
  /** The system calls with their arguments, and the CPU time. */
  readonly facts: readonly string[]
}

async function processState(pid: number): Promise<ProcessState | undefined> {
  const [threads, stat, isConnected] = await Promise.all([
    readdir(`/proc/${pid}/task`),
    readFile(`/proc/${pid}/stat`, 'utf8'),
    hasOwnSocket(pid),
  ])
  if (isConnected) return undefined
  const calls = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/syscall`, 'utf8')))
  const waits = calls.map(waitOf)
  if (waits.includes(undefined)) return undefined
  // The fields after the last bracket: the state, and as 12th and 13th the CPU time in user and system mode.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { waits, facts: [...calls, `${fields[11]} ${fields[12]}`] }
}

/** A socket besides stdin, stdout and stderr: something may arrive there. */
async function hasOwnSocket(pid: number): Promise<boolean> {
  const files = (await readdir(`/proc/${pid}/fd`)).filter((fd) => Number(fd) > 2)
  const targets = await Promise.all(files.map((fd) => readlink(`/proc/${pid}/fd/${fd}`)))
  return targets.some((target) => target.startsWith('socket:'))
}

/** `281 0xf 0x7ffe… 0x400 0xffffffff …`: the number of the call and its arguments; `running` if there is none. */
function waitOf(line: string): Wait {
  const [number = '', ...args] = line.trim().split(' ')
  const call = systemCalls[process.arch]?.[number]
  if (call === undefined) return undefined
  if (call.isRead === true && args[0] !== '0x0') return undefined
  const { timeout } = call
  if (timeout !== undefined && !timeout.forever.test(args[timeout.position] ?? '')) return undefined
  return call.wait
}
