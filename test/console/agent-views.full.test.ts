/** Further views of an agent in the console: its card, client code, its entry in the configuration. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { waitFor } from '../admin/test-hub.ts'
import { openCardServer } from './card-server.ts'
import { readClipboard } from './page-queries.ts'
import { openConsole } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('an agent', async (browser) => {
  const forecast = await openCardServer()
  const fixture = await openConsole(browser, {
    agents: {
      forecast: { kind: 'a2a', url: forecast.url, drift: 'block' },
    },
  })
  const { testHub } = fixture
  await fixture.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const list = (page: Page) => page.getByRole('list', { name: 'Agents' })
  const row = (page: Page, name: RegExp) => list(page).getByRole('link', { name })

  describe('in the card view', () => {
    it('is shown as clients of each version get it, with the differences', async () => {
      const page = await fixture.open('/agents/talker/card')
      const differences = page.getByRole('list', { name: 'Differences' })
      await differences.getByText('Only in 1.0').waitFor()
      await differences.getByText('supportedInterfaces').waitFor()
      await differences.getByText('preferredTransport').waitFor()
      await page.getByRole('group', { name: 'Version' }).getByRole('button', { name: '0.2' }).click()
      await page.getByLabel('Compare with').selectOption('0.3')
      assert.match(page.url(), /version=0\.2&with=0\.3/)
      await differences.getByText('protocolVersion').waitFor()
      await page.reload()
      await differences.getByText('protocolVersion').waitFor()
      await page.getByLabel('Compare with').selectOption('none')
      await differences.waitFor({ state: 'detached' })
      await page.getByText(/^As sent/).click()
      const raw = JSON.parse(await page.getByLabel('the card for clients of 0.2', { exact: true }).innerText())
      assert.equal(raw.protocolVersion, '0.2.6')
      await page.getByText("curl -H 'A2A-Version: 0.2'").waitFor()
      await page.close()
    })

    it('has the status of its signature, also for a remote card', async () => {
      const page = await fixture.open('/agents/forecast/card')
      await page.getByText('The hub does not sign its cards.').waitFor()
      await page.getByText('not checked').waitFor()
      await page.getByRole('group', { name: 'Version' }).getByRole('button', { name: 'Remote' }).click()
      await page.getByRole('heading', { name: 'Remote', level: 3 }).waitFor()
      assert.match(page.url(), /version=own/)
      await page.close()
    })

    it('waits for approval when it changes, and lists the changed fields', async () => {
      const page = await fixture.open('/agents/forecast')
      await page.getByText('A remote agent').last().waitFor()
      forecast.say({ description: 'Something quite different', version: '2.0.0' })
      await testHub.ask('POST', '/admin/agents/forecast/look')
      const banner = page.getByRole('group', { name: 'State of Forecast' })
      await banner.getByText('Calls to Forecast are blocked').waitFor()
      await row(page, /Blocked/).waitFor()
      await banner.getByRole('link', { name: 'Review card' }).click()
      const change = page.getByRole('region', { name: 'Card changes' })
      await change.getByText('Something quite different').waitFor()
      await change.getByRole('list', { name: 'Differences' }).getByText('version').waitFor()
      await change.getByRole('button', { name: 'Approve' }).click()
      const question = page.getByRole('dialog', { name: 'Approve the new card of forecast?' })
      await question.getByRole('button', { name: 'Approve' }).click()
      await change.waitFor({ state: 'detached' })
      const { json } = await testHub.ask('GET', '/admin/agents/forecast')
      assert.equal(json.drift, undefined)
      await page.close()
    })
  })

  describe('in the client code view', () => {
    it('has addresses that can be copied, for every binding and version', async () => {
      const page = await fixture.open('/agents/artist/connect')
      const table = page.getByRole('table')
      for (const name of [/JSON-RPC 1\.0/, /REST 1\.0/, /JSON-RPC 0\.3/, /REST 0\.3/, /JSON-RPC 0\.2/, /Card all/]) {
        await table.getByRole('row', { name }).waitFor()
      }
      await page.getByRole('button', { name: 'Copy the address for JSON-RPC 1.0' }).click()
      assert.equal(await readClipboard(page), `${testHub.url}/a2a/artist`)
      await page.close()
    })

    it('has code that is selected by the address, with a key or without', async () => {
      const page = await fixture.open('/agents/artist/connect?snippet=python', { width: 1700 })
      await page.getByLabel('Python snippet', { exact: true }).getByText('create_client').waitFor()
      await page.getByLabel('With a key').check()
      await page.getByLabel('Python snippet', { exact: true }).getByText('PARLEY_KEY').waitFor()
      await page.getByRole('group', { name: 'Snippet' }).getByRole('button', { name: 'curl, 0.3' }).click()
      assert.match(page.url(), /snippet=curl-0\.3&key=yes|key=yes&snippet=curl-0\.3/)
      await page.getByRole('button', { name: 'Copy curl, 0.3 snippet' }).click()
      assert.match(await readClipboard(page), /message\/send/)
      await page.close()
    })
  })

  describe('in the configuration view', () => {
    it('is not overwritten by an edit that began before another change', async () => {
      const page = await fixture.open('/agents/clock/settings?view=text')
      const entry = page.getByLabel('Settings as text')
      await entry.fill('kind: demo\nagent: clock\ndescription: mine\n')
      await testHub.ask('PUT', '/admin/agents/clock', {
        entry: { kind: 'demo', agent: 'clock', description: 'theirs' },
      })
      await page.getByText('The configuration changed while you were editing.').waitFor()
      await page.getByRole('button', { name: 'Review changes' }).click()
      await page.getByRole('button', { name: 'Apply' }).click()
      await page.getByText('The configuration was changed meanwhile: look at it again').first().waitFor()
      await page.getByRole('button', { name: 'Back to settings' }).click()
      await page.getByRole('button', { name: 'Discard my edits' }).click()
      await page.getByRole('button', { name: 'YAML' }).click()
      await waitFor(
        async () => ((await entry.inputValue()).includes('theirs') ? true : undefined),
        'the newer entry is shown',
      )
      await page.close()
    })

    it('is removed after a confirmation', async () => {
      await testHub.ask('POST', '/admin/agents', { name: 'short', entry: { kind: 'demo', agent: 'echo' } })
      const page = await fixture.open('/agents/short/settings')
      await page.getByRole('button', { name: 'Remove agent' }).click()
      const question = page.getByRole('dialog', { name: 'Remove short from the configuration?' })
      await question.getByRole('button', { name: 'Not now' }).click()
      assert.equal((await testHub.ask('GET', '/admin/agents/short')).status, 200)
      await page.getByRole('button', { name: 'Remove agent' }).click()
      await question.getByRole('button', { name: 'Remove agent' }).click()
      await page.waitForURL('**/agents')
      await row(page, /short/).waitFor({ state: 'detached' })
      assert.equal((await testHub.ask('GET', '/admin/agents/short')).status, 404)
      await page.close()
    })
  })

  it('causes no page errors', () => {
    // The browser logs responses such as 404 and 400, which are expected here.
    const unexpected = fixture.pageErrors.filter((said) => !/status of (400|404|409)/.test(said))
    assert.deepEqual(unexpected, [])
  })
})
