/**
 * Every page as users see it: light and dark, on a laptop and on a phone. Each must load without an error, a serious
 * finding of axe, or content wider than the screen. `npm run shots` writes the pictures to docs/img.
 */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { seriousViolations } from './open-console.ts'
import { openPopulatedConsole } from './populated-console.ts'
import { describeInBrowser } from './shared-browser.ts'

const isKept = process.env['PARLEY_SHOTS'] === '1'
const folder = join(import.meta.dirname, '../../docs/img')

const all = [
  { theme: 'light', name: 'light', width: 1280, height: 800 },
  { theme: 'dark', name: 'dark', width: 1280, height: 800 },
  { theme: 'light', name: 'phone-light', width: 390, height: 844 },
  { theme: 'dark', name: 'phone-dark', width: 390, height: 844 },
] as const
/** Alternating themes: the tests of each page check all of them. Pictures are taken of all. */
const looksAt = (page: number) => (isKept ? all : all.filter((_, look) => look === (page % 2 === 0 ? 0 : 3)))

describeInBrowser('every page', async (browser) => {
  if (isKept) mkdirSync(folder, { recursive: true })
  const populated = await openPopulatedConsole(browser)
  const { report, own, failed, compared, hook } = populated
  const pages: readonly (readonly [name: string, path: string, shows: string])[] = [
    ['overview', '/overview', 'release-bot'],
    ['welcome', '/welcome', 'concierge'],
    ['agents', '/agents', 'translator'],
    ['agent', '/agents/analyst', 'Quarterly report'],
    ['agent-down', '/agents/crm', 'crm fails its health check'],
    ['agent-connect', '/agents/analyst/connect', 'curl'],
    ['agent-card', '/agents/analyst/card', '0.3'],
    ['add-agent', '/agents/new', 'agent'],
    ['add-agent-form', '/agents/new?form=mcp', 'MCP server'],
    ['playground-new', '/playground/analyst', 'Summarise the third quarter'],
    ['playground', `/playground/analyst?context=${own.contextId}&task=${own.taskId}`, 'third-quarter.md'],
    ['agent-settings', '/agents/researcher/settings', 'baseUrl'],
    [
      'compare',
      `/playground/compare?left=researcher&right=writer&leftTask=${compared.left}&rightTask=${compared.right}`,
      'Total time',
    ],
    ['tasks', '/tasks', 'Summarise the third quarter'],
    ['task', `/tasks/${report}`, 'third-quarter.md'],
    ['task-failed', `/tasks/${failed}`, 'Staging rejected the release'],
    ['task-events', `/tasks/${report}/events`, 'artifact'],
    ['task-protocol', `/tasks/${report}/protocol`, '0.3'],
    ['traces', '/traces', 'analyst'],
    ['trace', `/traces/${report}`, 'researcher'],
    ['webhooks', '/webhooks', '127.0.0.1'],
    ['webhook-delivery', `/webhooks/${hook.taskId}/${hook.configId}`, '503'],
    ['agent-routes', '/agents/concierge/routes', 'invoices'],
    ['health', '/settings/health', 'Store'],
    ['config', '/settings/config', 'agents'],
    ['keys', '/settings/keys', 'notebook'],
    ['audit', '/settings/audit', 'SendMessage'],
    ['about', '/settings/about', 'OpenAPI'],
  ]

  /** One tab for each look. */
  const tabs = new Map<string, Page>()
  for (const [index, [name, path, shows]] of pages.entries())
    it(`${name} renders without problems`, async () => {
      for (const look of looksAt(index)) {
        const tab = tabs.get(look.name)
        if (tab !== undefined) await populated.load(tab, path)
        const page = tab ?? (await populated.open(path, look))
        tabs.set(look.name, page)
        await page.getByText(shows).first().waitFor({ state: 'attached' })
        if (isKept) await page.waitForTimeout(1_000)
        const overflow = await page.evaluate<number>(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        assert.equal(overflow, 0, `${path} at ${look.width}: ${overflow} pixels too wide`)
        assert.deepEqual(await seriousViolations(page), [], `${path} in ${look.name}`)
        if (isKept) await page.screenshot({ path: join(folder, `${name}-${look.name}.png`) })
      }
    })

  it('causes no page errors', () => {
    assert.deepEqual(populated.pageErrors, [])
  })
})
