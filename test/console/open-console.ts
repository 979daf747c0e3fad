/**
 * A real hub with agents of five kinds, the console built from the working tree, and a browser context that is signed in. Each
 * test file has its own; files share the browser (shared-browser.ts).
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { scriptedModel } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { adminKey, openTestHub } from '../admin/test-hub.ts'
import type { TestHub, TestHubOptions } from '../admin/test-hub.ts'
import { builtConsole } from './built-console.ts'

/** The limit of every wait. */
export const maxWaitMs = guardMs

export interface ConsoleFixture {
  readonly testHub: TestHub
  readonly context: BrowserContext
  /** A new tab, signed in, at this page of the console. */
  open(path: string, options?: PageOptions): Promise<Page>
  /** Loads another page in this tab, for tests of many pages: a new tab takes 200 ms of CPU time more. */
  load(page: Page, path: string): Promise<void>
  /** Errors of the pages: exceptions, failed requests, violations of the content security policy. None is expected. */
  readonly pageErrors: readonly string[]
}

export interface PageOptions {
  /** The test moves the clock of the page: see `pauseClock`. */
  readonly hasOwnClock?: boolean
  readonly theme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
}

export interface ConsoleOptions extends TestHubOptions {
  /** In addition to the default agents. */
  readonly agents?: Readonly<Record<string, object>>
}

/** Of all pages of a context: to set it for each page draws the page once more. Without motion, no colour is halfway. */
export const defaultLook = {
  viewport: { width: 1280, height: 800 },
  colorScheme: 'light',
  reducedMotion: 'reduce',
} as const

export async function openConsole(
  browser: Browser,
  { agents = {}, ...options }: ConsoleOptions = {},
): Promise<ConsoleFixture> {
  const model = await scriptedModel(({ said }) => ({
    say: [`You asked: **${said}**. `, 'Here is ', 'what I know.'],
    usage: { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 },
  }))
  model.models = ['some-model']
  after(() => model.close())
  const testHub = await openTestHub({
    ...options,
    console: options.console ?? (await builtConsole()),
    files: { 'artist.ts': artist, 'shout.mjs': shout, ...options.files },
    config: { agents: { ...defaultAgents(model.url).agents, ...agents }, ...options.config },
  })
  const context = await browser.newContext({ baseURL: testHub.url, ...defaultLook })
  after(() => context.close())
  context.setDefaultTimeout(maxWaitMs)
  const pageErrors: string[] = []
  await signIn(context, testHub.url)
  // A tab that stays open keeps the process of the tabs after it.
  await (await context.newPage()).goto(`${testHub.url}/healthz`)

  async function load(page: Page, path: string): Promise<void> {
    await page.goto(testHub.url + path)
    await page.locator('h1').first().waitFor()
  }

  return {
    testHub,
    context,
    pageErrors,
    load,
    async open(path, { theme, width, height, hasOwnClock = false } = {}) {
      const page = await context.newPage()
      if (hasOwnClock) await page.clock.install()
      page.on('pageerror', (error) => void pageErrors.push(`${page.url()}: ${error.message}`))
      page.on('console', (message) => {
        if (message.type() === 'error') pageErrors.push(`${page.url()}: ${message.text()}`)
      })
      if (width !== undefined || height !== undefined)
        await page.setViewportSize({
          ...defaultLook.viewport,
          ...(width === undefined ? {} : { width }),
          ...(height === undefined ? {} : { height }),
        })
      if (theme !== undefined) await page.emulateMedia({ colorScheme: theme })
      await load(page, path)
      return page
    },
  }
}

/** Gets the session cookie, as the sign-in form does. */
async function signIn(context: BrowserContext, url: string): Promise<void> {
  const response = await context.request.post(`${url}/admin/session`, {
    headers: { authorization: `Bearer ${adminKey}` },
  })
  if (response.status() !== 201) throw new Error(`sign-in failed with ${response.status()}`)
}

/** Whether the page is no wider than the screen. */
export async function hasNoHorizontalScroll(page: Page): Promise<boolean> {
  return page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')
}

export interface AxeViolation {
  readonly id: string
  readonly impact: string
  readonly help: string
  readonly where: readonly string[]
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Serious and critical violations that axe finds in the current state of the page. */
export async function seriousViolations(page: Page): Promise<readonly AxeViolation[]> {
  // A colour in the middle of its transition is not what the page shows. Here none begins any more, also if the page changes while
  // axe runs; those that have begun are finished.
  await page.emulateMedia({ reducedMotion: 'reduce' })
  // The policy of the page allows no script tag, but evaluation by the browser's debugger is exempt.
  const found = await page.evaluate(async (source: string) => {
    const scope = globalThis as unknown as {
      axe?: { run(options: object): Promise<{ violations: any[] }> }
      document: { getAnimations(): { finish(): void; constructor: { name: string } }[] }
    }
    const transitions = scope.document.getAnimations().filter((one) => one.constructor.name === 'CSSTransition')
    for (const transition of transitions) transition.finish()
    // oxlint-disable-next-line no-eval
    if (scope.axe === undefined) (0, eval)(source)
    return (await scope.axe?.run({ resultTypes: ['violations'] }))?.violations ?? []
  }, axeSource)
  return found
    .filter(({ impact }: any) => impact === 'serious' || impact === 'critical')
    .map(({ id, impact, help, nodes }: any) => ({
      id,
      impact,
      help,
      where: nodes.map(({ target, failureSummary }: any) => `${target}: ${failureSummary}`),
    }))
}

/** Five kinds: code in a file, a model, a program, a demo, and another hub's agent. */
const defaultAgents = (modelUrl: string) => ({
  agents: {
    talker: { kind: 'module', path: './talker.ts', default: true, name: 'Talker', description: 'Says what you say.' },
    artist: {
      kind: 'module',
      path: './artist.ts',
      description: 'Answers with pictures, sounds, tables, code and files.',
      skills: [{ id: 'draw', name: 'Draw', description: 'Draws whatever you like', tags: ['art'], examples: ['all'] }],
    },
    gpt: { kind: 'openai', baseUrl: modelUrl, model: 'some-model', description: 'A model.' },
    shout: { kind: 'command', command: [process.execPath, './shout.mjs'], description: 'A program that shouts.' },
    clock: { kind: 'demo', agent: 'clock' },
    concierge: { kind: 'demo', agent: 'concierge' },
  },
})

const artist = `
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
export default async function* ({ text }) {
  yield { artifact: { artifactId: 'prose', name: 'prose.md', parts: [{ text: '# A report\\n\\n- one\\n- **two**\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |\\n', mediaType: 'text/markdown' }] } }
  yield { artifact: { artifactId: 'code', name: 'main.py', parts: [{ text: 'print("hello")\\n', mediaType: 'text/x-python' }] } }
  yield { artifact: { artifactId: 'rows', name: 'rows', parts: [{ data: [{ city: 'Rome', people: 2873000 }, { city: 'Oslo', people: 709000 }] }] } }
  yield { artifact: { artifactId: 'picture', name: 'dot.png', parts: [{ raw: png, mediaType: 'image/png', filename: 'dot.png' }] } }
  yield { artifact: { artifactId: 'place', name: 'elsewhere', parts: [{ url: 'https://example.com/report.pdf', mediaType: 'application/pdf', filename: 'report.pdf' }] } }
}
`

const shout = `
let text = ''
for await (const chunk of process.stdin) text += chunk
process.stdout.write(text.toUpperCase())
`
