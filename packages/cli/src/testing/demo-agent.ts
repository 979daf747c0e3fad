/** An agent for the tests of the commands: what it does is the first word of the message. Served over three bindings on loopback. */
import { artifact, data, fail, file, inputRequired, memoryStore, reject, reply, status } from '@parley/a2a'
import type { AgentFunction, Report } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import type { ServeOptions, Server } from '@parley/a2a/node'
import { after } from 'node:test'

/** Lets a test decide when a turn continues: `hold` waits until the gate of its name opens. */
export interface Gates {
  open(name: string): void
  /** Resolves once a turn waits at the gate. */
  reached(name: string): Promise<void>
}

function createGates(): Gates & { wait(name: string, signal: AbortSignal): Promise<void> } {
  const gates = new Map<
    string,
    { readonly opened: PromiseWithResolvers<void>; readonly reached: PromiseWithResolvers<void> }
  >()
  const gate = (name: string) => {
    const known = gates.get(name) ?? { opened: Promise.withResolvers<void>(), reached: Promise.withResolvers<void>() }
    gates.set(name, known)
    return known
  }
  return {
    open: (name) => gate(name).opened.resolve(),
    reached: (name) => gate(name).reached.promise,
    async wait(name, signal) {
      const { opened, reached } = gate(name)
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      reached.resolve()
      await Promise.race([opened.promise, aborted])
    },
  }
}

export interface DemoServer extends Server {
  readonly gates: Gates
}

/** Closed when the tests of the file are over. */
export async function serveDemoAgent(options: Partial<ServeOptions> = {}): Promise<DemoServer> {
  const gates = createGates()
  const agent: AgentFunction = async function* ({ text, signal }) {
    const [command = '', name = ''] = text.split(' ')
    const answers: Readonly<Record<string, Report>> = {
      message: reply('A direct answer'),
      input: inputRequired('Where to?'),
      fail: fail('It did not work'),
      reject: reject('Not today'),
    }
    const answer = answers[command]
    if (answer !== undefined) {
      yield answer
      return
    }
    if (command === 'hold') {
      yield 'before '
      await gates.wait(name, signal)
      signal.throwIfAborted()
      yield 'after'
      return
    }
    if (command === 'chunks') {
      yield status('Counting')
      for (const chunk of ['one ', 'two ', 'three']) yield chunk
      return
    }
    if (command === 'parts') {
      yield artifact('notes', { name: 'notes', parts: [{ text: 'First line\nsecond line' }, { text: '' }] })
      const chart = file(new Uint8Array([1, 2, 3]), { name: '../../chart.png', mediaType: 'image/png' })
      yield artifact('files', { parts: [data({ city: 'Oslo' }), chart] })
      return
    }
    yield `Hello, ${text}!`
  }
  const server = await serve({
    name: 'Demo',
    description: 'Does what the first word says',
    agent,
    store: memoryStore(),
    port: 0,
    grpcPort: 0,
    quiet: true,
    // Turns that wait at a gate would each have five seconds at the end.
    drainMs: 0,
    ...options,
  } as ServeOptions)
  after(() => server.close())
  return Object.assign(Object.create(server) as DemoServer, { gates })
}
