/** The playground with agents that do not exist or cannot take messages. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../admin/stage.ts'
import { findBrowser } from '../browser/chromium.ts'
import { freePort } from '../free-port.ts'
import { openConsole } from './open-console.ts'
import type { OpenConsole } from './open-console.ts'
import { composer, say, untilEnded } from './playground-house.ts'

const found = await findBrowser()
const reason = 'the key of the weather service is not set'

/** Without the harness's ear: a browser complains of each answer with status 503. */
async function openAt(house: OpenConsole, path: string): Promise<{ page: Page; sent: () => number }> {
  const page = await house.context.newPage()
  let count = 0
  page.on('request', (request) => {
    if (request.method() === 'POST' && new URL(request.url()).pathname.startsWith('/a2a/')) count += 1
  })
  await page.goto(house.stage.url + path)
  return { page, sent: () => count }
}

describe('agents in the playground', 'missing' in found ? { skip: found.missing } : { timeout: 600_000 }, async () => {
  if ('missing' in found) return
  after(() => found.browser.close())
  const house = await openConsole(found.browser, {
    files: { 'broken.ts': `throw new Error('${reason}')` },
    agents: {
      broken: { kind: 'module', path: './broken.ts' },
      remote: { kind: 'a2a', url: `http://127.0.0.1:${await freePort()}` },
      leaving: { kind: 'demo', agent: 'echo' },
    },
  })

  it('are named where the one in the address does not exist, and no other agent answers for it', async () => {
    const { page, sent } = await openAt(house, '/playground/no-such-agent?context=c')
    await page.getByRole('heading', { name: 'No agent named no-such-agent' }).waitFor()
    assert.equal(await composer(page).count(), 0)
    assert.equal(await page.getByRole('link', { name: 'show tasks of no-such-agent' }).count(), 1)
    await page.getByRole('link', { name: /Talker/ }).click()
    await page.waitForURL('**/playground/talker')
    await say(page, 'hello')
    await untilEnded(page)
    assert.equal(sent(), 1)
    await page.close()
  })

  it('are named when the one that was talked to has been removed', async () => {
    const page = await house.open('/playground/leaving')
    await say(page, 'hello')
    await untilEnded(page)
    await house.stage.ask('DELETE', '/admin/agents/leaving')
    await page.getByRole('heading', { name: 'No agent named leaving' }).waitFor()
    await page.close()
  })

  for (const name of ['broken', 'remote']) {
    it(`that are down fail a message at once, say why, and are tried again on request: ${name}`, async () => {
      const { page, sent } = await openAt(house, `/playground/${name}`)
      await say(page, 'hello')
      await page.getByRole('button', { name: 'Try again' }).waitFor()
      assert.equal(sent(), 1)
      assert.equal(await page.locator('.chat-thinking').count(), 0)
      await page.locator('.talk-pending', { hasText: 'not sent' }).waitFor()
      const { json } = await house.stage.ask('GET', `/admin/agents/${name}`)
      const why = json.startError?.message ?? json.health.why
      assert.ok(why.length > 10, why)
      await page.locator('.agent-note').getByText(why).waitFor()
      await page.getByRole('button', { name: 'Try again' }).click()
      await until(async () => (sent() === 2 ? true : undefined), 'it is sent again')
      await page.getByRole('button', { name: 'Try again' }).waitFor()
      assert.equal(await page.locator('.talk-said.mine').count(), 1)
      await page.close()
    })
  }

  it('have their last error on the page of agents, also a module that cannot load', async () => {
    const page = await house.open('/agents', { width: 1600 })
    const row = (name: string) => page.locator('.agents-row').filter({ hasText: name })
    await row('broken').locator('.agents-error').getByText(reason).waitFor()
    await row('remote').locator('.agents-error .agent-failure').waitFor()
    await row('broken').click()
    await page.locator('dd').getByText(reason).waitFor()
    await page.close()
  })

  it('that are well again answer the same message', async () => {
    const { page } = await openAt(house, '/playground/broken')
    await say(page, 'hello again')
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    writeFileSync(join(house.stage.folder, 'repaired.ts'), "export default () => 'well again'")
    const entry = { kind: 'module', path: './repaired.ts' }
    assert.equal((await house.stage.ask('PUT', '/admin/agents/broken', { entry })).status, 200)
    await page.locator('.agent-note').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Try again' }).click()
    await untilEnded(page)
    await page.locator('.talk-made').getByText('well again').waitFor()
    await page.close()
  })

  it('were not complained of', () => {
    assert.deepEqual(house.complaints, [])
  })
})
