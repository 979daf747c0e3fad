/** What the stream of an ordinary message shows: one stream per interface, judged from several sides. */
import { pass, Undecided, type Check } from '../check.ts'
import { expect, outcomeOf } from '../expect.ts'
import { artifactsOf, foldArtifacts, ordinaryAnswer, ordinaryStream, stateOf, taskIdOf } from '../record-stream.ts'
import { isObject } from '../wire/encode-request.ts'
import { describeError } from '../wire/read-error.ts'
import { interruptedStates, terminalStates } from '../wire/read-response.ts'
import { judgeEvent } from './stream-events.ts'

const streamSections = {
  '1.0': 'A2A 1.0 §3.1.2',
  '0.3': 'A2A 0.3 §3.3, §7.2',
  '0.2': 'A2A 0.2 §3.3, §7.2',
} as const

const everywhere = { versions: ['1.0', '0.3', '0.2'], bindings: ['JSONRPC', 'HTTP+JSON', 'GRPC'], sends: true } as const

export const streamingChecks: readonly Check[] = [
  {
    id: 'streaming.opens',
    rules: ['F-4', 'F-10'],
    level: 'must',
    section: streamSections,
    title: 'An agent that declares streaming answers SendStreamingMessage with a stream of at least one event',
    ...everywhere,
    async run(subject) {
      const { stream, items } = await ordinaryAnswer(subject)
      const { answer } = stream
      expect(
        answer === undefined,
        `The card declares streaming, but SendStreamingMessage is answered with ${answer === undefined ? '' : outcomeOf(answer)}`,
        stream,
      )
      expect(items.length > 0, 'The stream ends without an event', stream)
      const [first] = items
      expect(
        first?.error === undefined,
        `The stream consists of an error: ${first?.error === undefined ? '' : describeError(first.error)}`,
        stream,
      )
      return pass()
    },
  },
  {
    id: 'streaming.frames',
    rules: ['F-4'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §9.4.2, §11.7', '0.3': 'A2A 0.3 §3.3.2', '0.2': 'A2A 0.2 §3.3.2' },
    title: 'Every event of a stream has one complete JSON document as its data',
    versions: ['1.0', '0.3', '0.2'],
    bindings: ['JSONRPC', 'HTTP+JSON'],
    sends: true,
    async run(subject) {
      const { stream, items } = await ordinaryStream(subject)
      const wrong = items.findIndex(({ envelope, frame }) => !isObject(envelope) || frame?.isCut === true)
      expect(
        wrong < 0,
        `Event ${wrong + 1} ${items[wrong]?.frame?.isCut === true ? 'has no blank line after it' : 'is no JSON object'}: ${items[wrong]?.frame?.data?.slice(0, 80)}`,
        stream,
      )
      return pass()
    },
  },
  {
    id: 'streaming.envelope',
    rules: ['F-6'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §9.4.2', '0.3': 'A2A 0.3 §7.2', '0.2': 'A2A 0.2 §7.2' },
    title: 'Over JSON-RPC every event is a response with the id of the request',
    versions: ['1.0', '0.3', '0.2'],
    bindings: ['JSONRPC'],
    sends: true,
    async run(subject) {
      const { stream, items } = await ordinaryStream(subject)
      const asked = JSON.parse(stream.exchange.request.body ?? '{}') as { readonly id?: unknown }
      items.forEach(({ envelope }, index) => {
        const at = `Event ${index + 1}`
        expect(isObject(envelope) && envelope['jsonrpc'] === '2.0', `${at} has no "jsonrpc": "2.0"`, stream)
        expect(
          envelope['id'] === asked.id,
          `${at} has the id ${JSON.stringify(envelope['id'])}, the request ${JSON.stringify(asked.id)}`,
          stream,
        )
        expect('result' in envelope !== 'error' in envelope, `${at} needs either a result or an error`, stream)
      })
      return pass()
    },
  },
  {
    id: 'streaming.first-event',
    rules: ['B-89'],
    level: 'must',
    section: 'A2A 1.0 §3.1.2',
    title: 'A stream begins with the task, or with a message',
    ...everywhere,
    versions: ['1.0'],
    async run(subject) {
      const { stream, items } = await ordinaryStream(subject)
      const kind = items[0]?.view.kind
      expect(kind === 'task' || kind === 'message', `The first event is of the kind ${kind}`, stream)
      return pass()
    },
  },
  {
    id: 'streaming.pattern',
    rules: ['B-89'],
    level: 'must',
    section: 'A2A 1.0 §3.1.2',
    title: 'A stream is either one message, or a task and its updates; never both',
    ...everywhere,
    versions: ['1.0'],
    async run(subject) {
      const { stream, items } = await ordinaryStream(subject)
      const messages = items.filter(({ view }) => view.kind === 'message').length
      expect(messages === 0 || items.length === 1, `${messages} of ${items.length} events are messages`, stream)
      return pass()
    },
  },
  {
    id: 'streaming.events',
    rules: ['B-99', 'J-2'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §3.2.3, §4.2', '0.3': 'A2A 0.3 §7.2.2, §7.2.3', '0.2': 'A2A 0.2 §7.2.2, §7.2.3' },
    title: 'Every event is one task, message, status update or artifact update, with its required fields',
    ...everywhere,
    async run(subject) {
      const { stream, items } = await ordinaryStream(subject)
      items.forEach((item, index) => {
        if (item.error !== undefined) return
        const wrong = judgeEvent(item.view, subject.dialect)
        expect(wrong === undefined, `Event ${index + 1} ${wrong}`, stream)
      })
      return pass()
    },
  },
  {
    id: 'streaming.ids',
    rules: ['B-89'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §4.2.1, §4.2.2', '0.3': 'A2A 0.3 §7.2.2, §7.2.3', '0.2': 'A2A 0.2 §7.2.2, §7.2.3' },
    title: 'All events of a stream name the same task and the same context',
    ...everywhere,
    async run(subject) {
      const { stream, items } = await ordinaryStream(subject)
      const named = items.flatMap(({ view }) =>
        view.kind === 'task'
          ? [{ taskId: view.task.id, contextId: view.task.contextId }]
          : view.kind === 'status' || view.kind === 'artifact'
            ? [view]
            : [],
      )
      const tasks = new Set(named.map(({ taskId }) => taskId))
      const contexts = new Set(named.map(({ contextId }) => contextId))
      expect(tasks.size <= 1, `The events name ${tasks.size} tasks: ${[...tasks].join(', ')}`, stream)
      expect(contexts.size <= 1, `The events name ${contexts.size} contexts: ${[...contexts].join(', ')}`, stream)
      return pass()
    },
  },
  {
    id: 'streaming.ends',
    rules: ['B-90', 'B-89'],
    level: { '1.0': 'must', '0.3': 'must', '0.2': 'must' },
    section: streamSections,
    title: 'A stream closes when its task has ended, or after its only message',
    ...everywhere,
    async run(subject) {
      const { stream, items, isOpen, lastState } = await ordinaryStream(subject)
      const isMessage = items[0]?.view.kind === 'message'
      if (!isMessage && !terminalStates.has(lastState))
        throw new Undecided(`the stream shows no end of its task: ${lastState}`)
      expect(
        !isOpen,
        `The stream is still open after ${isMessage ? 'its message' : lastState} and the answer to a later message`,
        stream,
      )
      const { end } = stream
      expect(
        end?.by !== 'failure',
        `The stream breaks instead of ending: ${end?.by === 'failure' ? end.note : ''}`,
        stream,
      )
      return pass()
    },
  },
  {
    id: 'streaming.not-before-the-end',
    rules: ['B-90'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §3.1.2, §11.7', '0.3': 'A2A 0.3 §7.2', '0.2': 'A2A 0.2 §7.2' },
    title: 'A stream does not close before its task has ended or waits for the client',
    ...everywhere,
    async run(subject) {
      const { stream, items, lastState } = await ordinaryStream(subject)
      if (items[0]?.view.kind === 'message') return pass('the agent answers with a message')
      if (items.at(-1)?.error !== undefined) throw new Undecided('the stream ends with an error')
      const isSettled = terminalStates.has(lastState) || interruptedStates.has(lastState)
      expect(isSettled, `The stream ends while the task is in the state ${lastState}`, stream)
      return pass()
    },
  },
  {
    id: 'streaming.order',
    rules: ['B-93'],
    level: 'must',
    section: 'A2A 1.0 §3.5.2',
    title: 'Events come in the order in which they were made: no state follows the end, and time does not go back',
    ...everywhere,
    versions: ['1.0'],
    async run(subject) {
      const { stream, items } = await ordinaryStream(subject)
      let ended: string | undefined
      let latest = ''
      for (const item of items) {
        const state = stateOf(item)
        if (state === undefined) {
          expect(ended === undefined || item.view.kind !== 'artifact', `An artifact follows ${ended}`, stream)
          continue
        }
        expect(ended === undefined || state === ended, `${state} follows ${ended}`, stream)
        if (terminalStates.has(state)) ended = state
        const time = timestampOf(item.view.raw)
        expect(time === undefined || time >= latest, `The status of ${time} follows that of ${latest}`, stream)
        latest = time ?? latest
      }
      return pass()
    },
  },
  {
    id: 'streaming.nothing-lost',
    rules: ['B-93', 'B-90'],
    level: { '1.0': 'must', '0.3': 'info', '0.2': 'info' },
    section: { '1.0': 'A2A 1.0 §3.1.2, §3.5.2', '0.3': 'A2A 0.3 §7.2', '0.2': 'A2A 0.2 §7.2' },
    title: 'The events of a stream add up to the task that GetTask returns',
    ...everywhere,
    async run(subject) {
      const { stream, items, lastState } = await ordinaryStream(subject)
      const { task } = await subject.settle(taskIdOf(items))
      if (!terminalStates.has(task.state)) throw new Undecided(`the task has not ended: ${task.state}`)
      expect(lastState === task.state, `The stream ends with ${lastState}, GetTask returns ${task.state}`, stream)
      const streamed = foldArtifacts(items)
      for (const [id, content] of artifactsOf(task)) {
        const found = streamed.get(id)
        expect(found !== undefined, `The artifact ${id} of the task is not in the stream`, stream)
        expect(
          found === content,
          `The artifact ${id} is ${shown(found)} in the stream and ${shown(content)} in the task`,
          stream,
        )
      }
      const missing = [...streamed.keys()].find((id) => !artifactsOf(task).has(id))
      expect(missing === undefined, `The artifact ${missing} of the stream is not in the task`, stream)
      return pass()
    },
  },
  {
    id: 'streaming.final',
    rules: ['B-97'],
    level: 'must',
    section: { '0.3': 'A2A 0.3 §7.2.2', '0.2': 'A2A 0.2 §7.2.2' },
    title: 'The last status of a stream has "final": true, and no other',
    ...everywhere,
    versions: ['0.3', '0.2'],
    async run(subject) {
      const { stream, items, lastState } = await ordinaryStream(subject)
      const statuses = items.flatMap(({ view }) => (view.kind === 'status' ? [view] : []))
      if (statuses.length === 0) throw new Undecided('the stream has no status update')
      if (!terminalStates.has(lastState)) throw new Undecided(`the stream shows no end of its task: ${lastState}`)
      statuses.forEach(({ isFinal, state }, index) => {
        const isLast = index === statuses.length - 1
        expect(
          (isFinal === true) === isLast,
          `The ${isLast ? 'last' : `${index + 1}.`} status update (${state}) has "final": ${isFinal}`,
          stream,
        )
      })
      return pass()
    },
  },
  {
    id: 'streaming.proxy-headers',
    rules: ['F-4'],
    level: 'info',
    section: 'A2A has no rule; proxies buffer a stream without them',
    title: 'A stream forbids caches to store it (Cache-Control)',
    versions: ['1.0', '0.3', '0.2'],
    bindings: ['JSONRPC', 'HTTP+JSON'],
    sends: true,
    async run(subject) {
      const { stream } = await ordinaryStream(subject)
      const control = stream.headers['cache-control']
      expect(/no-cache|no-store/.test(control ?? ''), `Cache-Control is ${control ?? 'missing'}`, stream)
      return pass()
    },
  },
]

/** The time of the status in a task or a status update, whatever wraps it. */
function timestampOf(raw: unknown): string | undefined {
  if (!isObject(raw)) return undefined
  const holder = [raw['task'], raw['statusUpdate'], raw].find((value) => isObject(value) && isObject(value['status']))
  const status = isObject(holder) && isObject(holder['status']) ? holder['status'] : {}
  const time = typeof status['timestamp'] === 'string' ? Date.parse(status['timestamp']) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

const shown = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
