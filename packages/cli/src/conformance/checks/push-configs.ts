/** Push notification configs: what can be stored, read, listed and deleted, and what is refused. */
import { pass, type Check } from '../check.ts'
import { expect, expectError, expectRefusal, expectResult, unknownTaskId } from '../expect.ts'
import type { Subject } from '../subject.ts'
import { isObject } from '../wire/encode-request.ts'
import type { JsonObject } from '../wire/spelling.ts'
import {
  createdConfig,
  configIdOf,
  makeConfig,
  readConfig,
  readConfigs,
  requirePush,
  taskForPush,
} from './push-setup.ts'

const allBindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const
const allVersions = ['1.0', '0.3', '0.2'] as const
const both = { versions: allVersions, bindings: allBindings } as const

const sectionOf = (modern: string, legacy: string) => ({
  '1.0': `A2A 1.0 ${modern}`,
  '0.3': `A2A 0.3 ${legacy}`,
  '0.2': `A2A 0.2 ${legacy}`,
})

export const pushConfigChecks: readonly Check[] = [
  {
    id: 'push.create',
    rules: ['B-116'],
    level: 'must',
    section: sectionOf('§3.1.7', '§7.5'),
    title: 'A created config comes back with its address, its task and an id',
    ...both,
    sends: true,
    async run(subject) {
      const { answer, taskId, url } = await createdConfig(subject)
      const config = readConfig(subject, answer.result)
      expect(config.url === url, `The config has the address ${config.url} instead of ${url}`, answer)
      expect(
        config.taskId === undefined || config.taskId === taskId,
        `The config has the task ${config.taskId} instead of ${taskId}`,
        answer,
      )
      if (subject.version === '1.0') expect(config.id !== undefined && config.id !== '', 'The config has no id', answer)
      return pass()
    },
  },
  {
    id: 'push.get',
    rules: ['B-117'],
    level: 'must',
    section: sectionOf('§3.1.8', '§7.6'),
    title: 'GetTaskPushNotificationConfig returns the stored address',
    ...both,
    sends: true,
    async run(subject) {
      const { taskId, url, id } = await createdConfig(subject)
      const answer = await subject.call('GetTaskPushNotificationConfig', { taskId, id })
      expectResult(answer, 'GetTaskPushNotificationConfig of a stored config')
      const config = readConfig(subject, answer.result)
      expect(config.url === url, `The config has the address ${config.url} instead of ${url}`, answer)
      return pass()
    },
  },
  {
    id: 'push.get-unknown',
    rules: ['B-117'],
    level: 'must',
    section: 'A2A 1.0 §3.1.8',
    title: 'GetTaskPushNotificationConfig of an unknown config is refused with TaskNotFoundError',
    ...both,
    versions: ['1.0'],
    sends: true,
    async run(subject) {
      const { taskId } = await createdConfig(subject)
      const answer = await subject.call('GetTaskPushNotificationConfig', { taskId, id: 'conformance-no-such-config' })
      expectError(answer, 'GetTaskPushNotificationConfig of an unknown config', 'TASK_NOT_FOUND')
      return pass()
    },
  },
  {
    id: 'push.list',
    rules: ['B-117'],
    level: 'must',
    section: sectionOf('§3.1.9', '§7.7'),
    title: 'ListTaskPushNotificationConfigs returns every stored config',
    ...both,
    sends: true,
    async run(subject) {
      const { taskId, id, url } = await createdConfig(subject)
      const answer = await subject.call('ListTaskPushNotificationConfigs', { taskId })
      expectResult(answer, 'ListTaskPushNotificationConfigs of a task with one config')
      const found = readConfigs(subject, answer)
      expect(
        found.some((config) => config.url === url && (config.id === undefined || config.id === id)),
        `The list has ${found.length} configs, and not the stored one`,
        answer,
      )
      return pass()
    },
  },
  {
    id: 'push.unknown-task',
    rules: ['B-117'],
    level: 'must',
    section: sectionOf('§3.1.7, §3.1.9, §3.1.10', '§7.5, §8.2'),
    title: 'Configs of an unknown task are refused with TaskNotFoundError',
    ...both,
    sends: false,
    async run(subject) {
      requirePush(subject)
      const taskId = unknownTaskId(subject)
      const created = await subject.call('CreateTaskPushNotificationConfig', {
        taskId,
        url: 'https://example.com/webhook',
      })
      expectError(created, 'CreateTaskPushNotificationConfig of an unknown task', 'TASK_NOT_FOUND')
      const listed = await subject.call('ListTaskPushNotificationConfigs', { taskId })
      expectError(listed, 'ListTaskPushNotificationConfigs of an unknown task', 'TASK_NOT_FOUND')
      const deleted = await subject.call('DeleteTaskPushNotificationConfig', { taskId, id: 'none' })
      expectError(deleted, 'DeleteTaskPushNotificationConfig of an unknown task', 'TASK_NOT_FOUND')
      return pass()
    },
  },
  {
    id: 'push.delete',
    rules: ['B-118'],
    level: 'must',
    section: sectionOf('§3.1.10', '§7.8'),
    title: 'A deleted config is gone',
    ...both,
    sends: true,
    async run(subject) {
      const { taskId, id, url } = await makeConfig(subject)
      expectResult(
        await subject.call('DeleteTaskPushNotificationConfig', { taskId, id }),
        'DeleteTaskPushNotificationConfig of a stored config',
      )
      const answer = await subject.call('ListTaskPushNotificationConfigs', { taskId })
      if (answer.error === undefined) {
        expect(
          !readConfigs(subject, answer).some((config) => config.url === url),
          'The deleted config is still in the list',
          answer,
        )
      }
      const got = await subject.call('GetTaskPushNotificationConfig', { taskId, id })
      if (subject.version === '1.0') expectRefusal(got, 'GetTaskPushNotificationConfig of a deleted config')
      return pass()
    },
  },
  {
    id: 'push.delete-twice',
    rules: ['B-118'],
    level: 'must',
    section: 'A2A 1.0 §3.1.10',
    title: 'Deleting a config twice has the same effect as once',
    ...both,
    versions: ['1.0'],
    sends: true,
    async run(subject) {
      const { taskId, id } = await makeConfig(subject)
      await subject.call('DeleteTaskPushNotificationConfig', { taskId, id })
      expectResult(
        await subject.call('DeleteTaskPushNotificationConfig', { taskId, id }),
        'A second DeleteTaskPushNotificationConfig',
      )
      return pass()
    },
  },
  {
    id: 'push.secrets',
    rules: ['B-120'],
    level: 'info',
    section: sectionOf('§13.2', '§9.5'),
    title: 'The token and the credentials of a config are not returned when it is read',
    ...both,
    sends: true,
    async run(subject) {
      const { taskId, id, token, credentials } = await createdConfig(subject)
      const answer = await subject.call('GetTaskPushNotificationConfig', { taskId, id })
      expectResult(answer, 'GetTaskPushNotificationConfig of a stored config')
      const text = JSON.stringify(answer.result)
      expect(!text.includes(credentials), 'The config is returned with its credentials', answer)
      expect(!text.includes(token), 'The config is returned with its token', answer)
      return pass()
    },
  },
  {
    id: 'push.url-required',
    rules: ['B-38', 'J-9'],
    level: 'should',
    section: sectionOf('§5.7, §3.3.2', '§6.8, §8.1'),
    title: 'A config without an address is refused',
    ...both,
    sends: true,
    async run(subject) {
      const taskId = await taskForPush(subject)
      for (const [what, config] of [
        ['no address', {}],
        ['an empty address', { url: '' }],
      ] as const) {
        await refuse(subject, { taskId, ...config }, `A config with ${what}`)
      }
      return pass()
    },
  },
  {
    id: 'push.url-valid',
    rules: ['B-38', 'B-129'],
    level: { '1.0': 'must', '0.3': 'should', '0.2': 'should' },
    section: { '1.0': 'A2A 1.0 §3.3.2 (validate all input), §13.2', '0.3': 'A2A 0.3 §9.5', '0.2': 'A2A 0.2 §9.5' },
    title: 'An address that is no http URL is refused',
    ...both,
    sends: true,
    async run(subject) {
      const taskId = await taskForPush(subject)
      for (const url of ['not a url', 'file:///etc/passwd', 'javascript:alert(1)']) {
        await refuse(subject, { taskId, url }, `A config with the address ${JSON.stringify(url)}`)
      }
      return pass()
    },
  },
  {
    id: 'push.url-private',
    rules: ['B-129'],
    level: 'should',
    section: sectionOf('§13.2', '§9.5'),
    title: 'Link-local and private addresses are refused',
    ...both,
    sends: true,
    async run(subject) {
      const taskId = await taskForPush(subject)
      for (const url of [
        'http://169.254.169.254/latest/meta-data/',
        'http://10.255.255.1/',
        'http://192.168.255.254/',
      ]) {
        await refuse(subject, { taskId, url }, `A config with the address ${url}`)
      }
      return pass()
    },
  },
]

/** A config that should be refused; if it is not, it is removed again. */
async function refuse(subject: Subject, config: JsonObject, what: string): Promise<void> {
  const answer = await subject.call('CreateTaskPushNotificationConfig', config)
  if (answer.error === undefined && isObject(answer.result)) {
    await subject.call('DeleteTaskPushNotificationConfig', {
      taskId: config['taskId'],
      id: configIdOf(subject, answer.result),
    })
  }
  expectRefusal(answer, what)
}
