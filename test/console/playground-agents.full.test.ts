/** The playground with agents that do not exist or are down. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { waitFor } from '../admin/test-hub.ts'
import { freePort } from '../free-port.ts'
import { openConsole } from './open-console.ts'
import type { ConsoleFixture } from './open-console.ts'
import { composer, sendText, waitForTaskEnd } from './playground-fixture.ts'
import { describeInBrowser } from './shared-browser.ts'

const reason = 'the key of the weather service is not set'

/** Without the error check of the harness: a browser logs each response with status 503. */
async function openAt(fixture: ConsoleFixture, path: string): Promise<{ page: Page; sent: () => number }> {
  const page = await fixture.context.newPage()
  let count = 0
  page.on('request', (request) => {
    if (request.method() === 'POST' && new URL(request.url()).pathname.startsWith('/a2a/')) count += 1
  })
  await page.goto(fixture.testHub.url + path)
  return { page, sent: () => count }
}

describeInBrowser('agents in the playground', async (browser) => {
  const fixture = await openConsole(browser, {
    files: { 'broken.ts': `throw new Error('${reason}')` },
    agents: {
      broken: { kind: 'module', path: './broken.ts' },
      remote: { kind: 'a2a', url: `http://127.0.0.1:${await freePort()}` },
      leaving: { kind: 'demo', agent: 'echo' },
    },
  })

  it('are listed if the one in the address does not exist, and no other agent answers', async () => {
    const { page, sent } = await openAt(fixture, '/playground/no-such-agent?context=c')
    await page.getByRole('heading', { name: 'No agent named no-such-agent' }).waitFor()
    assert.equal(await composer(page).count(), 0)
    assert.equal(await page.getByRole('link', { name: 'show tasks of no-such-agent' }).count(), 1)
    await page.getByRole('link', { name: /Talker/ }).click()
    await page.waitForURL('**/playground/talker')
    await sendText(page, 'hello')
    await waitForTaskEnd(page)
    assert.equal(sent(), 1)
    await page.close()
  })

  it('are listed if the current one has been removed', async () => {
    const page = await fixture.open('/playground/leaving')
    await sendText(page, 'hello')
    await waitForTaskEnd(page)
    await fixture.testHub.ask('DELETE', '/admin/agents/leaving')
    await page.getByRole('heading', { name: 'No agent named leaving' }).waitFor()
    await page.close()
  })

  for (const name of ['broken', 'remote']) {
    it(`that are down fail a message at once with the reason, and are retried on request: ${name}`, async () => {
      const { page, sent } = await openAt(fixture, `/playground/${name}`)
      await sendText(page, 'hello')
      await page.getByRole('button', { name: 'Try again' }).waitFor()
      assert.equal(sent(), 1)
      assert.equal(await page.locator('.chat-thinking').count(), 0)
      await page.locator('.talk-pending', { hasText: 'not sent' }).waitFor()
      const { json } = await fixture.testHub.ask('GET', `/admin/agents/${name}`)
      const why = json.startError?.message ?? json.health.why
      assert.ok(why.length > 10, why)
      await page.getByRole('alert').getByText('The message was not delivered').waitFor()
      // Above the composer, with the next try, which the operator can stop.
      const banner = page.getByRole('group', { name: `State of ${name}` })
      await banner
        .getByText(/^Retrying/)
        .first()
        .waitFor()
      await banner.getByRole('button', { name: 'Stop retrying' }).click()
      await banner.getByText('Not retrying').waitFor()
      await banner.getByRole('button', { name: 'Retry now' }).waitFor()
      await page.getByRole('button', { name: 'Try again' }).click()
      await waitFor(async () => (sent() === 2 ? true : undefined), 'it is sent again')
      await page.getByRole('button', { name: 'Try again' }).waitFor()
      assert.equal(await page.locator('.talk-said.mine').count(), 1)
      await page.close()
    })
  }

  it('have their last error on the agents page, also a module that cannot be loaded', async () => {
    const page = await fixture.open('/agents', { width: 1600 })
    const row = (name: string) => page.locator('.agents-row').filter({ hasText: name })
    await row('broken').locator('.agents-error').getByText(reason).waitFor()
    await row('remote').locator('.agents-error .agent-failure').waitFor()
    await row('broken').click()
    await page.locator('dd').getByText(reason).waitFor()
    await page.close()
  })

  it('that recover answer the same message', async () => {
    const { page } = await openAt(fixture, '/playground/broken')
    await sendText(page, 'hello again')
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    writeFileSync(join(fixture.testHub.folder, 'repaired.ts'), "export default () => 'well again'")
    const entry = { kind: 'module', path: './repaired.ts' }
    assert.equal((await fixture.testHub.ask('PUT', '/admin/agents/broken', { entry })).status, 200)
    await page.getByRole('group', { name: 'State of broken' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Try again' }).click()
    await waitForTaskEnd(page)
    await page.locator('.talk-made').getByText('well again').waitFor()
    await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
