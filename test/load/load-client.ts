/**
 * One kind of client of the load test, in a separate process: it opens connections, keeps the configured number open,
 * and reports its counts on request. Raw sockets, because a general client would cost more than the hub does.
 */
import { connect } from 'node:net'
import type { Socket } from 'node:net'

export type ClientRole = 'streams' | 'slowloris' | 'silent' | 'tasks' | 'probe'

export interface ClientOrder {
  readonly role: ClientRole
  readonly port: number
  /** Connections, or for `tasks` messages a second. */
  readonly count: number
  /** Tasks that streams subscribe to. */
  readonly taskIds: readonly string[]
}

export interface ClientCounts {
  readonly open: number
  readonly answered: number
  /** Connections that the hub closed. */
  readonly cuts: number
  readonly errors: number
  /** Of `probe`. */
  readonly latenciesMs: readonly number[]
  readonly lastError: string
}

const { role, port, count, taskIds } = JSON.parse(process.argv[2] ?? '{}') as ClientOrder
let open = 0
let answered = 0
let cuts = 0
let errors = 0
let lastError = ''
let isOver = false
const latenciesMs: number[] = []
const sockets = new Set<Socket>()

process.on('message', (message) => {
  if (message === 'stop') {
    isOver = true
    for (const socket of sockets) socket.destroy()
    process.exit(0)
  }
  process.send?.({ open, answered, cuts, errors, latenciesMs, lastError } satisfies ClientCounts)
})
process.on('disconnect', () => process.exit(0))

function fail(text: string): void {
  errors += 1
  lastError = text.slice(0, 300)
}

function dial(opened: (socket: Socket) => void, closed: () => void): void {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  sockets.add(socket)
  socket.on('connect', () => {
    open += 1
    opened(socket)
  })
  socket.on('error', (reason) => fail(String(reason)))
  socket.on('close', () => {
    if (sockets.delete(socket) && socket.bytesWritten > 0) open -= 1
    if (isOver) return
    cuts += 1
    closed()
  })
}

/** Connections that wait for an answer: more would test the accept queue of the system. */
const maxUnanswered = 500

/** Opens this many, a few at a time; each one that is cut is reopened. */
function keepOpen(opened: (socket: Socket, index: number) => void, unanswered = (_next: number): number => 0): void {
  const again = (index: number): void =>
    dial(
      (socket) => opened(socket, index),
      () => void setTimeout(again, 1_000, index),
    )
  let next = 0
  const timer = setInterval(() => {
    for (let some = 0; some < 20 && next < count && unanswered(next) < maxUnanswered; some += 1) again(next++)
    if (next >= count) clearInterval(timer)
  }, 10)
}

const head = (line: string, more: string): string =>
  `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nA2A-Version: 1.0\r\n${more}\r\n`
const subscription = (index: number, more = ''): string =>
  head(`GET /a2a/waiting/tasks/${taskIds[index % taskIds.length]}:subscribe`, more)

function streams(): void {
  keepOpen(
    (socket, index) => {
      socket.write(subscription(index))
      socket.once('data', (data: Buffer) => {
        if (data.toString('latin1', 0, 15) === 'HTTP/1.1 200 OK') answered += 1
        else fail(data.toString('latin1', 0, 300))
        socket.resume()
      })
    },
    (next) => next - answered - errors,
  )
}

/** Half of them never finish their head, the other half their body. What they send is valid, or the parser would end it. */
function slowloris(): void {
  const start = head('POST /a2a/echo', 'Content-Type: application/json\r\nContent-Length: 100000\r\nX-Slow: ')
  keepOpen((socket, index) => {
    const hasHead = index % 2 === 1
    socket.write(hasHead ? `${start}\r\n` : start.slice(0, -2))
    const timer = setInterval(() => socket.write(hasHead ? ' ' : 'a'), 5_000)
    socket.on('close', () => clearInterval(timer))
    socket.resume()
  })
}

/** They request megabytes and read nothing. */
function silent(): void {
  keepOpen((socket, index) => {
    socket.pause()
    socket.write(subscription(index, 'Last-Event-ID: 0\r\n'))
    answered += 1
    // A client that does not read notices the end only by writing. An empty line before a request is ignored.
    const timer = setInterval(() => socket.write('\r\n'), 5_000)
    socket.on('close', () => clearInterval(timer))
  })
}

let sent = 0
const body = (text: string): string =>
  JSON.stringify({
    message: { messageId: `${role}-${process.pid}-${(sent += 1)}`, role: 'ROLE_USER', parts: [{ text }] },
  })

function post(agent: string, payload: string): string {
  return `${head(`POST /a2a/${agent}/message:send`, `Content-Type: application/a2a+json\r\nContent-Length: ${payload.length}\r\n`)}${payload}`
}

/** One connection with one request on it at a time. */
function caller(done: (ms: number) => void): { ask(agent: string): boolean } {
  let socket: Socket | undefined
  let startedAt = 0
  let text = ''
  const open = (): void =>
    dial(
      (made) => {
        socket = made
        startedAt = 0
        made.on('data', (data: Buffer) => {
          text += data.toString('latin1')
          const end = text.indexOf('\r\n\r\n')
          const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? Infinity)
          if (end < 0 || text.length < end + 4 + length) return
          if (text.startsWith('HTTP/1.1 200') && text.includes('TASK_STATE_COMPLETED')) {
            answered += 1
            done(performance.now() - startedAt)
          } else fail(text)
          text = ''
          startedAt = 0
        })
      },
      () => {
        if (startedAt > 0) fail('the hub closed a connection in the middle of an answer')
        socket = undefined
        text = ''
        open()
      },
    )
  open()
  return {
    ask(agent) {
      if (socket === undefined || startedAt > 0) return false
      startedAt = performance.now()
      socket.write(post(agent, body('hello')))
      return true
    },
  }
}

/** This many per second, whether the last ones were answered or not; a request without a free connection counts as an error. */
function tasks(): void {
  const callers = Array.from({ length: 256 }, () => caller(() => {}))
  let owed = 0
  let last = performance.now() + 1_000
  setInterval(() => {
    const now = performance.now()
    if (now < last) return
    owed += ((now - last) * count) / 1_000
    last = now
    for (const free of callers) {
      if (owed < 1) return
      if (free.ask('worker')) owed -= 1
    }
    if (owed > count * 5) {
      owed -= count
      fail('no connection was free for five seconds')
    }
  }, 5)
}

function probe(): void {
  const one = caller((ms) => void latenciesMs.push(ms))
  setInterval(() => one.ask('echo'), Math.round(1_000 / count))
}

;({ streams, slowloris, silent, tasks, probe })[role]()
