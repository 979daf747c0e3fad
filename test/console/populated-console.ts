/** A hub after a day of work: agents of six kinds, tasks in every state, traces, webhooks, routes, keys. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import type { Browser } from 'playwright-core'
import { scriptedModel } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import { waitFor } from '../admin/test-hub.ts'
import { freePort } from '../free-port.ts'
import { openConsole } from './open-console.ts'
import type { ConsoleFixture } from './open-console.ts'

export interface PopulatedConsole extends ConsoleFixture {
  /** A task delegated through three agents. */
  readonly report: string
  /** The same, as the user of the console. */
  readonly own: { readonly taskId: string; readonly contextId: string }
  /** A task that an error ended. */
  readonly failed: string
  /** One message of that user to two agents. */
  readonly compared: { readonly left: string; readonly right: string }
  /** A webhook that is being retried. */
  readonly hook: { readonly taskId: string; readonly configId: string }
}

export async function openPopulatedConsole(browser: Browser): Promise<PopulatedConsole> {
  const model = await scriptedModel(({ said }) => ({
    say: findingsFor(said),
    usage: { prompt_tokens: 1_204, completion_tokens: 388, total_tokens: 1_592 },
  }))
  model.models = ['large-2']
  after(() => model.close())
  const partner = await serve({
    name: 'Ledger',
    port: 0,
    store: memoryStore(),
    quiet: true,
    description: 'Knows every invoice of the last ten years.',
    agent: ({ text }) => `Three invoices match “${text}”.`,
  })
  after(() => partner.close())
  const receiver = await openReceiver()
  const closedPort = await freePort()
  const fixture = await openConsole(browser, {
    files: { 'analyst.ts': analyst, 'writer.ts': writer, 'release-bot.ts': releaseBot, 'translate.mjs': translate },
    config: {
      agents: {
        concierge: { kind: 'demo', agent: 'concierge', default: true },
        clock: { kind: 'demo', agent: 'clock' },
        analyst: {
          kind: 'module',
          path: './analyst.ts',
          name: 'Analyst',
          description: 'Answers questions about sales: asks the researcher, and has the writer write it up.',
          skills: [
            {
              id: 'quarter',
              name: 'Quarterly report',
              description: 'A report about one quarter, with figures',
              tags: ['sales', 'report'],
              examples: ['Summarise the third quarter', 'How did Norway do in March?'],
            },
            { id: 'forecast', name: 'Forecast', description: 'What the next quarter may bring', tags: ['sales'] },
          ],
        },
        researcher: { kind: 'openai', baseUrl: model.url, model: 'large-2', description: 'A model with our figures.' },
        writer: { kind: 'module', path: './writer.ts', description: 'Writes what others have found.' },
        translator: { kind: 'command', command: ['node', './translate.mjs'], description: 'A program.' },
        ledger: { kind: 'a2a', url: partner.url, allowPrivate: true },
        crm: { kind: 'a2a', url: `http://127.0.0.1:${closedPort}`, allowPrivate: true },
        'release-bot': { kind: 'module', path: './release-bot.ts', description: 'Builds and ships releases.' },
      },
      routes: [
        { name: 'invoices', from: 'concierge', when: { text: 'invoice' }, to: 'ledger', fallback: ['analyst'] },
        { name: 'reports', from: 'concierge', when: { regex: '\\b(report|figures?)\\b' }, to: 'analyst', priority: 5 },
        {
          name: 'trial',
          from: 'translator',
          to: [
            { agent: 'translator', weight: 9 },
            { agent: 'writer', weight: 1 },
          ],
        },
      ],
      prices: { 'large-2': { input: 2.5, output: 10 } },
      push: { allow: ['127.0.0.1'], schedule: ['200ms', '1h'] },
    },
  })
  const { testHub } = fixture
  const ana = await testHub.key({ name: 'Ana’s notebook', scopes: ['agent:*'] })
  const shop = await testHub.key({ name: 'web shop', scopes: ['agent:concierge', 'agent:ledger'] })
  for (const text of ['Bonjour tout le monde', 'Wo ist der Bahnhof?']) await testHub.send('translator', text, ana)
  for (const text of ['Find the invoice of 12 March', 'A table for two, please'])
    await testHub.send('concierge', text, shop)
  const failed = (await testHub.send('release-bot', 'Ship 2.4.0 to staging', ana)).id
  await testHub.send('concierge', 'Dinner with the Oslo office', ana)
  const report = (await testHub.send('analyst', 'Summarise the third quarter', ana)).id
  const delivered = await withWebhook('writer', `${receiver.url}/works`)
  const hook = await withWebhook('writer', `${receiver.url}/fails`)
  await waitFor(
    async () => (receiver.asked.includes('/works') && receiver.asked.includes('/fails')) || undefined,
    'webhooks',
  )
  void delivered
  await askAtConsole('translator', 'Wo ist der Bahnhof?')
  const left = (await askAtConsole('researcher', 'How did Norway do in the third quarter?')).taskId
  const right = (await askAtConsole('writer', 'How did Norway do in the third quarter?')).taskId
  const own = await askAtConsole('analyst', 'How did Norway do in the third quarter?')
  void testHub.send('clock', '600', ana, {}).catch(() => {})
  return { ...fixture, report, own, failed, compared: { left, right }, hook }

  /** As the playground does: with the cookie, and the token beside it. */
  async function askAtConsole(agent: string, text: string): Promise<{ taskId: string; contextId: string }> {
    const { request } = fixture.context
    const { csrf } = (await (await request.get(`${testHub.url}/admin/session`)).json()) as { csrf: string }
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
    const answer = await request.post(`${testHub.url}/a2a/${agent}`, {
      headers: { 'a2a-version': '1.0', 'x-csrf-token': csrf },
      data: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } },
    })
    const { id, contextId } = ((await answer.json()) as { result: { task: { id: string; contextId: string } } }).result
      .task
    return { taskId: id, contextId }
  }

  async function withWebhook(agent: string, url: string): Promise<{ taskId: string; configId: string }> {
    const message = {
      messageId: crypto.randomUUID(),
      role: 'ROLE_USER',
      parts: [{ text: 'Tell them when it is done' }],
    }
    const configuration = { taskPushNotificationConfig: { id: 'crm', url } }
    const { json } = await testHub.call(agent, 'SendMessage', { message, configuration }, ana)
    return { taskId: json.result.task.id, configId: 'crm' }
  }
}

/** Accepts notifications at one path, and fails at the other. */
async function openReceiver() {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    request.resume().on('end', () => response.writeHead(request.url === '/works' ? 204 : 503).end('not now'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => void server.close())
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function findingsFor(said: string): readonly string[] {
  return [
    `For “${said}” I found:\n\n`,
    '- Revenue rose by **12 %** to 4.1 million, most of it in *Norway*.\n',
    '- Returns fell to 2.1 %.\n',
    '- One large order moved to October.\n',
  ]
}

const analyst = `
async function* run({ text }, { delegate }) {
  yield { state: 'TASK_STATE_WORKING', message: { parts: [{ text: 'Asking the researcher' }] } }
  const found = yield* delegate({ agent: 'researcher', message: text, artifacts: false })
  yield { state: 'TASK_STATE_WORKING', message: { parts: [{ text: 'Having it written up' }] } }
  const report = yield* delegate({ agent: 'writer', message: found.text, artifacts: false })
  yield { artifact: { artifactId: 'report', name: 'third-quarter.md', parts: [{ text: report.text, mediaType: 'text/markdown' }] } }
  yield { artifact: { artifactId: 'figures', name: 'figures', parts: [{ data: [
    { month: 'July', revenue: 1310000, returns: 0.024 },
    { month: 'August', revenue: 1270000, returns: 0.021 },
    { month: 'September', revenue: 1520000, returns: 0.019 },
  ] }] } }
}
export default { resume: 'rerun', run }
`

const writer = `
export default async function* ({ text }) {
  for (const line of ['# The third quarter\\n\\n', text, '\\n\\n| | July | August | September |\\n|---|---|---|---|\\n', '| Revenue | 1.31 M | 1.27 M | 1.52 M |\\n']) yield line
}
`

const releaseBot = `
export default async function* () {
  yield 'Building 2.4.0 … '
  throw new Error('Staging rejected the release', { cause: new Error('connect ECONNREFUSED 10.0.4.7:443') })
}
`

const translate = `
let text = ''
for await (const chunk of process.stdin) text += chunk
const known = { 'Bonjour tout le monde': 'Hello, everybody', 'Wo ist der Bahnhof?': 'Where is the station?' }
process.stdout.write(known[text.trim()] ?? 'Thanks for last time')
`
