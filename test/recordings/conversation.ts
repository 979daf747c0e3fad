/** A conversation: requests in a fixed order, written as a script, and its transcript. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { forgetGates, openGate } from './agents.ts'
import { type HookReceiver, openHookReceiver } from './hook-receiver.ts'
import { createNormalizer } from './normalize.ts'
import { extensionsHeader, type Operation, type Params, spell, type Variant } from './spelling.ts'
import { type CallerName, type Target, unlimitedRate } from './targets.ts'
import { openWire, type Response, type Wire } from './wire.ts'

export interface Conversation {
  readonly name: string
  readonly variant: Variant
  hold(talk: Talk): Promise<void>
}

export interface Talk {
  readonly variant: Variant
  /** The URL of a webhook of this conversation. */
  hookUrl(name?: string): string
  /** A message id, or the name of a gate, that no other conversation uses. */
  id(name: string): string
  openGate(name: string): void
  /** Calls an operation and waits for the end of the response. */
  call(operation: Operation, params?: Params, options?: CallOptions): Promise<Answer>
  /** Calls a streaming operation. Its request and response are in the transcript where the stream ends. */
  stream(operation: Operation, params?: Params, options?: CallOptions): OpenStream
  /** Any HTTP request. */
  http(verb: string, path: string, options?: RawOptions): Promise<Answer>
  /** Bytes on a connection of their own. `<port>` stands for that of the listener. */
  socket(bytes: string): Promise<Answer>
  /** Any gRPC call, with a message in the form of ProtoJSON. */
  grpc(path: string, message: unknown, options?: RawOptions): Promise<Answer>
  /** Adds the notifications whose body matches to the transcript, once there are so many. */
  hooks(count: number, matching?: RegExp, name?: string): Promise<void>
}

export interface CallOptions extends RawOptions {
  /** Default `main`. */
  readonly agent?: string
  readonly extensions?: readonly string[]
  readonly lastEventId?: string
}

export interface RawOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** A string is sent as it is. */
  readonly body?: unknown
  /** The guarded listener, with the credentials of this caller or none. Default: the open one. */
  readonly as?: CallerName | 'nobody'
}

/** A whole response, and what a client finds in it. */
export interface Answer {
  readonly taskId: string
  readonly contextId: string
  readonly nextPageToken: string
  header(name: string): string
}

export interface OpenStream {
  /** Resolves to the id of the task, once this many events have arrived. */
  received(events: number): Promise<string>
  /** Waits for the end of the response. */
  end(): Promise<Answer>
  /** Closes the connection after this many events. */
  leave(events: number): Promise<Answer>
}

export const allVariants: readonly Variant[] = (['1.0', '0.3', '0.2'] as const).flatMap((version) =>
  (['JSONRPC', 'REST', 'gRPC'] as const).map((binding) => ({ version, binding })),
)
export const newVariants = allVariants.filter(({ version }) => version === '1.0')
export const legacyVariants = allVariants.filter(({ version }) => version !== '1.0')
export const httpVariants = allVariants.filter(({ binding }) => binding !== 'gRPC')

/** One conversation for each variant. */
export function across(
  variants: readonly Variant[],
  name: string,
  hold: Conversation['hold'],
): readonly Conversation[] {
  return variants.map((variant) => ({ name: `${name}, ${variant.version} ${variant.binding}`, variant, hold }))
}

/** A conversation that sends its requests as they are. */
export function once(name: string, hold: Conversation['hold']): readonly Conversation[] {
  return [{ name, variant: { version: '1.0', binding: 'JSONRPC' }, hold }]
}

/** The connections of all conversations with one target. */
export interface Stage {
  readonly target: Target
  readonly open: Wire
  readonly guarded: Wire
  readonly hooks: HookReceiver
  close(): Promise<void>
}

export async function openStage(target: Target): Promise<Stage> {
  forgetGates()
  const hooks = await openHookReceiver()
  const [open, guarded] = [openWire(target.open), openWire(target.guarded)]
  return {
    target,
    open,
    guarded,
    hooks,
    async close() {
      open.close()
      guarded.close()
      await target.close()
      hooks.close()
    },
  }
}

/** Holds the conversation and returns its transcript. */
export async function transcribe({ name, variant, hold }: Conversation, stage: Stage): Promise<string> {
  const { target, hooks } = stage
  const slug = createHash('sha256').update(name).digest('hex').slice(0, 6)
  const lines: string[] = []
  const callers = Object.entries(target.callers).map(([caller, text]) => [text, `Bearer <${caller}>`] as const)
  const normalize = createNormalizer(
    new Map([
      [`:${target.open.port}`, ':<port>'],
      [`:${target.open.grpcPort}`, ':<grpc port>'],
      [`:${target.guarded.port}`, ':<guarded port>'],
      [`:${target.guarded.grpcPort}`, ':<guarded grpc port>'],
      [`:${hooks.port}`, ':<hook port>'],
      ...callers,
    ]),
  )
  const write = (mark: string, more: readonly string[]): void => {
    // The rate of an address or a key that is not the subject.
    const isCounted = more.includes(`x-ratelimit-limit: ${unlimitedRate}`)
    const shown = isCounted ? more.filter((line) => !line.startsWith('x-ratelimit-')) : more
    lines.push(...shown.map((line) => `${mark} ${normalize(line)}`.trimEnd()))
  }

  function startHttp(verb: string, path: string, { headers = {}, body, as }: RawOptions): OpenStream {
    const wire = as === undefined ? stage.open : stage.guarded
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const all = {
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
      ...credentials(as),
    }
    const response = wire.http({ verb, path, headers: all, ...(text === undefined ? {} : { body: text }) })
    const sent = [
      `${verb} ${path}`,
      ...headerLines(headers),
      ...(as === undefined ? [] : headerLines(credentials(as))),
      ...(text === undefined ? [] : [text]),
    ]
    return openStream(response, sent)
  }

  function startGrpc(path: string, message: unknown, { headers = {}, as }: RawOptions): OpenStream {
    const all = { ...headers, ...credentials(as) }
    const response = (as === undefined ? stage.open : stage.guarded).grpc({ path, headers: all, message })
    return openStream(response, [`gRPC ${path}`, ...headerLines(all), JSON.stringify(message)])
  }

  function credentials(as: RawOptions['as']): Readonly<Record<string, string>> {
    return as === undefined || as === 'nobody' ? {} : { authorization: target.callers[as] }
  }

  function start(operation: Operation, params: Params = {}, options: CallOptions = {}): OpenStream {
    const { agent = 'main', extensions, lastEventId, headers, ...rest } = options
    const spelled = spell(variant, operation, params)
    assert.ok(spelled !== undefined, `${variant.version} has no ${operation} over ${variant.binding}`)
    const all = {
      'a2a-version': variant.version,
      ...(extensions === undefined ? {} : { [extensionsHeader(variant)]: extensions.join(', ') }),
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      ...headers,
    }
    if ('message' in spelled)
      return startGrpc(spelled.path, spelled.message, { ...rest, headers: { 'x-parley-agent': agent, ...all } })
    const { verb, path, body } = spelled
    return startHttp(verb, `/a2a/${agent}${path}`, { body, ...rest, headers: all })
  }

  function openStream(response: Response, request: readonly string[]): OpenStream {
    const received = (): readonly string[] => ['the response to', ...request, 'and got', ...response.lines]
    const end = async (note: readonly string[] = []): Promise<Answer> => {
      await within(response.done, received)
      write('>', request)
      write('<', [...response.lines, ...note])
      lines.push('')
      return readAnswer(response)
    }
    return {
      async received(events) {
        await within(response.received(events), received)
        return readAnswer(response).taskId
      },
      end,
      async leave(events) {
        await within(response.received(events), received)
        response.cancel()
        return end(['(the client leaves)'])
      },
    }
  }

  const talk: Talk = {
    variant,
    id: (part) => `${part}-${slug}`,
    hookUrl: (part = 'hook') => `http://127.0.0.1:${hooks.port}/${part}-${slug}`,
    openGate: (part) => openGate(`${part}-${slug}`),
    call: (operation, params, options) => start(operation, params, options).end(),
    stream: start,
    http: (verb, path, options = {}) => startHttp(verb, path, options).end(),
    grpc: (path, message, options = {}) => startGrpc(path, message, options).end(),
    socket: (bytes) => {
      const text = bytes.replaceAll('<port>', String(target.open.port))
      return openStream(stage.open.socket(text), bytes.split('\r\n')).end()
    },
    async hooks(count, matching = /^/, part = 'hook') {
      const { pathname } = new URL(talk.hookUrl(part))
      const received = await within(hooks.received(pathname, matching, count), () => [
        `${count} notifications at ${pathname}`,
      ])
      for (const notification of received) {
        write('!', notification)
        lines.push('')
      }
    },
  }
  await hold(talk)
  return lines.join('\n').trimEnd()
}

const headerLines = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`)

async function within<T>(promise: Promise<T>, what: () => readonly string[]): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const guard = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${guardMs} ms for ${what().join('\n')}`)), guardMs)
  })
  return Promise.race([promise, guard]).finally(() => clearTimeout(timer))
}

/** The ids are those of the first task, or event of a task, anywhere in the response. */
function readAnswer({ documents, lines }: Response): Answer {
  const task = documents.map(findTask).find((found) => found !== undefined)
  const page: unknown = documents[0]?.nextPageToken ?? documents[0]?.result?.nextPageToken
  return {
    taskId: task?.taskId ?? '',
    contextId: task?.contextId ?? '',
    nextPageToken: typeof page === 'string' ? page : '',
    header: (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? '',
  }
}

function findTask(value: any): { readonly taskId: string; readonly contextId: string } | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (typeof value.status === 'object' || value.artifact !== undefined) {
    const taskId: unknown = value.taskId ?? value.id
    if (typeof taskId === 'string') return { taskId, contextId: String(value.contextId) }
  }
  for (const inner of Object.values(value)) {
    const task = findTask(inner)
    if (task !== undefined) return task
  }
  return undefined
}
