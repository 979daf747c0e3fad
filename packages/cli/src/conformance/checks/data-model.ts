/** Tasks, messages, parts and artifacts as the agent writes them, from what other checks have received. */
import { fail, pass, undecided, type Check } from '../check.ts'
import type { SendAnswer, Subject } from '../subject.ts'
import { isObject } from '../wire/encode-request.ts'
import type { JsonObject } from '../wire/spelling.ts'
import type { MessageView, TaskView } from '../wire/read-response.ts'
import { objectsOf, snakeCaseFields } from './card-shape.ts'
import { allBindings, allVersions, jsonBindings, v1 } from './scope.ts'

const onData = { versions: allVersions, bindings: allBindings, sends: true } as const

const states = new Set(
  ['SUBMITTED', 'WORKING', 'COMPLETED', 'FAILED', 'CANCELED', 'INPUT_REQUIRED', 'REJECTED', 'AUTH_REQUIRED'].map(
    (name) => `TASK_STATE_${name}`,
  ),
)

/** Every message that a result has: the reply, the status message, the history. */
function messagesOf({ view }: SendAnswer): readonly MessageView[] {
  if (view.kind === 'message') return [view.message]
  if (view.kind !== 'task') return []
  return [...(view.task.statusMessage === undefined ? [] : [view.task.statusMessage]), ...(view.task.history ?? [])]
}

const artifactOrFirst = (subject: Subject): Promise<SendAnswer> =>
  subject.hasScenario('artifact')
    ? subject.once('artifact answer', () => subject.send('artifact'))
    : subject.firstAnswer()

async function taskIn(subject: Subject): Promise<{ readonly answer: SendAnswer; readonly task: TaskView } | undefined> {
  const answer = await artifactOrFirst(subject)
  return answer.view.kind === 'task' ? { answer, task: answer.view.task } : undefined
}

export const dataModelChecks: readonly Check[] = [
  {
    ...onData,
    id: 'data.task',
    rules: ['J-9', 'B-55'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §4.1.1, §4.1.2, §5.7', '0.3': 'A2A 0.3 §6.1, §6.2', '0.2': 'A2A 0.2 §6.1, §6.2' },
    title: 'A task has an id and a status with a state; in 0.x also a contextId',
    async run(subject) {
      const found = await taskIn(subject)
      if (found === undefined) return undecided('the agent answered with a message')
      const { task, answer } = found
      if (task.id === undefined || task.id === '') return fail('the task has no id', answer)
      if (task.state === undefined) return fail('the task has no status.state', answer)
      const needsContext = subject.version !== '1.0'
      return needsContext && (task.contextId ?? '') === '' ? fail('the task has no contextId', answer) : pass()
    },
  },
  {
    ...onData,
    id: 'data.enums',
    rules: ['J-2', 'B-174'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §4.1.3, §4.1.5, §5.5', '0.3': 'A2A 0.3 §6.3, §6.4', '0.2': 'A2A 0.2 §6.3, §6.4' },
    title: 'States and roles have the names of the version',
    async run(subject) {
      const answer = await artifactOrFirst(subject)
      const task = answer.view.kind === 'task' ? answer.view.task : undefined
      if (task !== undefined && !states.has(task.state ?? ''))
        return fail(`the state is ${JSON.stringify(task.state)}`, answer)
      const spelled =
        task === undefined ? undefined : isObject(task.raw['status']) ? task.raw['status']['state'] : undefined
      const isModern = typeof spelled === 'string' && spelled.startsWith('TASK_STATE_')
      if (task !== undefined && isModern !== (subject.dialect !== '0.x json'))
        return fail(`the state is spelled ${JSON.stringify(spelled)}`, answer)
      const wrong = messagesOf(answer).find(({ raw }) => !rolesOf(subject).includes(String(raw['role'])))
      return wrong === undefined ? pass() : fail(`a role is ${JSON.stringify(wrong.raw['role'])}`, answer)
    },
  },
  {
    ...onData,
    id: 'data.message',
    rules: ['J-9', 'B-61'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §4.1.4, §5.7', '0.3': 'A2A 0.3 §6.4', '0.2': 'A2A 0.2 §6.4' },
    title: 'Messages have a messageId, a role and at least one part',
    async run(subject) {
      const answers = [await artifactOrFirst(subject)]
      if (subject.hasScenario('message')) answers.push(await subject.send('message'))
      const seen = answers.flatMap((answer) => messagesOf(answer).map((message) => ({ answer, message })))
      if (seen.length === 0) return undecided('no message was received')
      for (const { answer, message } of seen) {
        if ((message.messageId ?? '') === '') return fail('a message has no messageId', answer)
        if (message.role === undefined) return fail('a message has no role', answer)
        if (message.parts.length === 0) return fail('a message has no parts', answer)
      }
      return pass()
    },
  },
  {
    ...onData,
    id: 'data.artifact',
    rules: ['J-9'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §4.1.7, §5.7', '0.3': 'A2A 0.3 §6.7', '0.2': 'A2A 0.2 §6.7' },
    title: 'Artifacts have an artifactId and at least one part',
    async run(subject) {
      const found = await taskIn(subject)
      if (found === undefined || found.task.artifacts.length === 0) return undecided('no artifact was received')
      for (const artifact of found.task.artifacts) {
        if ((artifact.artifactId ?? '') === '') return fail('an artifact has no artifactId', found.answer)
        if (artifact.parts.length === 0) return fail(`artifact ${artifact.artifactId} has no parts`, found.answer)
      }
      return pass()
    },
  },
  {
    ...onData,
    id: 'data.part',
    rules: ['T-17', 'J-12'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §4.1.6', '0.3': 'A2A 0.3 §6.5', '0.2': 'A2A 0.2 §6.5' },
    title: 'Each part has exactly one content',
    bindings: jsonBindings,
    async run(subject) {
      const answer = await artifactOrFirst(subject)
      const artifacts = answer.view.kind === 'task' ? answer.view.task.artifacts : []
      const parts = [...messagesOf(answer), ...artifacts].flatMap((of) => of.parts)
      if (parts.length === 0) return undecided('no part was received')
      const wrong = parts.find((part) => contentsOf(subject, part) !== 1)
      return wrong === undefined
        ? pass()
        : fail(`a part has ${contentsOf(subject, wrong)} contents: ${JSON.stringify(wrong).slice(0, 200)}`, answer)
    },
  },
  {
    ...onData,
    versions: v1,
    bindings: jsonBindings,
    id: 'data.camel-case',
    rules: ['J-1'],
    level: 'must',
    section: 'A2A 1.0 §5.5',
    title: 'Fields are named in lowerCamelCase',
    async run(subject) {
      const answer = await artifactOrFirst(subject)
      const found = snakeCaseFields(answer.result)
      return found.length === 0 ? pass() : fail(`in snake_case: ${found.slice(0, 10).join(', ')}`, answer)
    },
  },
  {
    ...onData,
    versions: v1,
    bindings: jsonBindings,
    id: 'data.no-kind',
    rules: ['J-10'],
    level: 'must',
    section: 'A2A 1.0 §11.4, A.2.1',
    title: 'Objects of 1.0 have no `kind`',
    async run(subject) {
      const answer = await artifactOrFirst(subject)
      const task = answer.view.kind === 'task' ? answer.view.task.raw : {}
      const objects = [answer.result, task, ...messagesOf(answer).map(({ raw }) => raw), ...partsIn(answer)]
      return objects.some((object) => isObject(object) && 'kind' in object)
        ? fail('the result has a `kind` of 0.3', answer)
        : pass()
    },
  },
  {
    ...onData,
    versions: v1,
    bindings: jsonBindings,
    id: 'data.timestamp',
    rules: ['J-3'],
    level: 'must',
    section: 'A2A 1.0 §5.6.1',
    title: 'Timestamps are ISO 8601 in UTC, with Z',
    async run(subject) {
      const found = await taskIn(subject)
      if (found === undefined) return undecided('the agent answered with a message')
      const { timestamp } = found.task
      if (timestamp === undefined) return undecided('the status has no timestamp')
      const isRight =
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(timestamp) && !Number.isNaN(Date.parse(timestamp))
      return isRight ? pass() : fail(`the timestamp is ${JSON.stringify(timestamp)}`, found.answer)
    },
  },
  {
    ...onData,
    versions: ['0.3', '0.2'],
    bindings: ['JSONRPC'],
    id: 'data.kind',
    rules: ['B-97'],
    level: 'must',
    section: { '0.3': 'A2A 0.3 §6.1, §6.4, §6.5', '0.2': 'A2A 0.2 §6.1, §6.4, §6.5' },
    title: 'Tasks, messages and parts of 0.x have their `kind`',
    async run(subject) {
      const answer = await artifactOrFirst(subject)
      if (answer.view.kind === 'unknown') return fail('the result has no `kind`', answer)
      const wrongMessage = messagesOf(answer).find(({ raw }) => raw['kind'] !== 'message')
      if (wrongMessage !== undefined) return fail('a message has no `kind` "message"', answer)
      const wrongPart = partsIn(answer).find((part) => !['text', 'file', 'data'].includes(String(part['kind'])))
      return wrongPart === undefined ? pass() : fail(`a part has the kind ${JSON.stringify(wrongPart['kind'])}`, answer)
    },
  },
]

const rolesOf = ({ dialect }: Subject): readonly string[] =>
  dialect === '0.x json' ? ['user', 'agent'] : ['ROLE_USER', 'ROLE_AGENT']

function partsIn(answer: SendAnswer): readonly JsonObject[] {
  const artifacts = answer.view.kind === 'task' ? objectsOf(answer.view.task.raw['artifacts']) : []
  return [...messagesOf(answer).flatMap(({ parts }) => parts), ...artifacts.flatMap(({ parts }) => objectsOf(parts))]
}

function contentsOf({ dialect }: Subject, part: JsonObject): number {
  const members = dialect === '1.0' ? ['text', 'raw', 'url', 'data'] : ['text', 'file', 'data']
  return members.filter((member) => member in part).length
}
