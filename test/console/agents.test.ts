/** The agents in the console: the list, and the page of each agent. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { memoryStore } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { freePort } from '../free-port.ts'
import { openCardServer } from './card-server.ts'
import { readClipboard } from './page-queries.ts'
import { hasNoHorizontalScroll, openConsole, seriousViolations } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('the agents', async (browser) => {
  const forecast = await openCardServer()
  const gonePort = await freePort()
  const fixture = await openConsole(browser, {
    files: { 'broken.ts': "import './not-there.ts'\nexport default () => 'hi'\n" },
    agents: {
      forecast: { kind: 'a2a', url: forecast.url, drift: 'block' },
      gone: { kind: 'a2a', url: `http://127.0.0.1:${gonePort}` },
      broken: { kind: 'module', path: './broken.ts' },
    },
  })
  const { testHub } = fixture
  await fixture.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const list = (page: Page) => page.getByRole('list', { name: 'Agents' })
  const row = (page: Page, name: RegExp) => list(page).getByRole('link', { name })
  const tabs = (page: Page) => page.getByRole('navigation', { name: /^Views of/ })

  describe('as a list', () => {
    it('show their kind, their health, and which one is the default', async () => {
      const page = await fixture.open('/agents')
      await row(page, /^talker default/).waitFor()
      await row(page, /^gpt A model\. openai/).waitFor()
      await row(page, /^gone .*Down/).waitFor()
      assert.equal(await list(page).getByRole('listitem').count(), 9)
      await page.close()
    })

    it('are found by text, kind, tag and health, all kept in the address', async () => {
      const page = await fixture.open('/agents')
      await row(page, /^talker /).waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('seconds')
      await row(page, /^talker /).waitFor({ state: 'detached' })
      await row(page, /^clock /).waitFor()
      assert.match(page.url(), /\?text=seconds$/)
      await page.getByLabel('Filter agents').fill('')
      await page.getByLabel('Kind').selectOption('demo')
      await row(page, /^talker /).waitFor({ state: 'detached' })
      await page.getByLabel('Tag').selectOption('demo')
      await page.reload()
      await row(page, /^clock /).waitFor()
      assert.equal(await page.getByLabel('Kind').inputValue(), 'demo')
      await page.getByLabel('Health').selectOption('down')
      await page.getByText('No matching agents').waitFor()
      await page.getByRole('link', { name: 'Show all agents' }).click()
      await row(page, /^talker /).waitFor()
      await page.close()
    })

    it('are navigated by keyboard, opened beside the list, and their names copied', async () => {
      const page = await fixture.open('/agents?kind=demo')
      await row(page, /^clock /).waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/agents/concierge?kind=demo')
      await page.getByRole('heading', { name: 'Concierge', level: 2 }).waitFor()
      await page.keyboard.press('k')
      await page.waitForURL('**/agents/clock?kind=demo')
      await page.keyboard.press('c')
      assert.equal(await readClipboard(page), 'clock')
      await page.keyboard.press('Escape')
      await page.waitForURL('**/agents?kind=demo')
      await page.close()
    })

    it('show their activity at once, and their last error', async () => {
      const page = await fixture.open('/agents')
      await row(page, /shout .* Up – – never idle None/).waitFor()
      const { id } = await testHub
        .call('talker', 'SendMessage', {
          message: { messageId: 'w', role: 'ROLE_USER', parts: [{ text: 'wait' }] },
          configuration: { returnImmediately: true },
        })
        .then(({ json }) => json.result.task)
      await row(page, /^talker .*1 working/).waitFor()
      await testHub.send('talker', 'fail now')
      await row(page, /^talker .*Up 2 50 % .*a secret of ours/).waitFor()
      await testHub.ask('POST', `/admin/tasks/${id}/cancel`)
      await row(page, /^talker .*idle/).waitFor()
      await page.close()
    })

    it('are sorted by their columns, in both directions and in the address', async () => {
      const page = await fixture.open('/agents')
      const first = list(page).getByRole('listitem').first()
      await first.getByText('talker', { exact: true }).waitFor()
      const column = page.getByRole('group', { name: 'Sort by' }).getByRole('button', { name: 'Agent' })
      await column.click()
      await page.waitForURL('**/agents?sort=name.asc')
      await first.getByText('artist', { exact: true }).waitFor()
      assert.equal(await column.getAttribute('aria-pressed'), 'true')
      await column.press('Enter')
      await page.waitForURL('**/agents?sort=name.desc')
      await page.reload()
      await first.getByText('talker', { exact: true }).waitFor()
      await page.getByRole('group', { name: 'Sort by' }).getByRole('button', { name: 'Errors' }).click()
      await first.getByText('50 %', { exact: true }).waitFor()
      await row(page, /^clock/).click()
      await page.waitForURL('**/agents/clock?sort=errors.desc')
      // Beside the detail there are no columns.
      await page.getByLabel('Sort', { exact: true }).selectOption('Most calls')
      await page.waitForURL('**/agents/clock?sort=calls.desc')
      await page.close()
    })

    it('are added and removed with the configuration', async () => {
      const page = await fixture.open('/agents')
      await row(page, /^talker /).waitFor()
      await testHub.ask('POST', '/admin/agents', { name: 'timer', entry: { kind: 'demo', agent: 'clock' } })
      await row(page, /timer/).waitFor()
      await testHub.ask('DELETE', '/admin/agents/timer')
      await row(page, /timer/).waitFor({ state: 'detached' })
      await page.close()
    })
  })

  describe('one agent', () => {
    it('shows what it does, its health, who may call it, its skills and its last tasks [S4-23]', async () => {
      const { id } = await testHub.send('artist', 'paint me something')
      const page = await fixture.open('/agents/artist')
      await page.getByRole('heading', { name: 'artist', level: 2 }).waitFor()
      await page.getByText('Answers with pictures, sounds').last().waitFor()
      await page.getByText(`${testHub.url}/a2a/artist`, { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Copy endpoint' }).click()
      assert.equal(await readClipboard(page), `${testHub.url}/a2a/artist`)
      await page.getByText('Optional: Bearer token or API key').waitFor()
      await page.getByRole('link', { name: 'paint me something' }).waitFor()
      assert.equal(await page.getByRole('link', { name: 'paint me something' }).getAttribute('href'), `/tasks/${id}`)
      assert.equal(await page.getByRole('link', { name: 'Show all tasks' }).getAttribute('href'), '/tasks?agent=artist')
      await page.getByRole('link', { name: 'Try it' }).click()
      await page.waitForURL('**/playground/artist')
      await page.close()
    })

    it('has examples that open the playground with their text', async () => {
      const page = await fixture.open('/agents/concierge')
      const example = page.getByRole('list', { name: 'Examples' }).getByRole('link').first()
      const text = await example.innerText()
      await example.click()
      await page.waitForURL(/\/playground\/concierge\?text=/)
      assert.equal(new URL(page.url()).searchParams.get('text'), text.trim())
      await page.close()
    })

    it('groups why tasks failed, here and on the overview, and counts the next one at once', async () => {
      await testHub.send('talker', 'fail here')
      const page = await fixture.open('/agents/talker')
      const group = page.getByRole('link', { name: /^\d+× .*a secret of ours/ })
      const before = Number.parseInt((await group.textContent()) ?? '', 10)
      const { id } = await testHub.send('talker', 'fail again')
      await page
        .getByRole('link', { name: new RegExp(`^${before + 1}× Over time: .*a secret of ours.*, first `) })
        .waitFor()
      await fixture.load(page, '/overview')
      await page.getByRole('link', { name: new RegExp(`^${before + 1}× talker .*a secret of ours`) }).click()
      await page.waitForURL(`**/tasks/${id}`)
      await page.close()
    })

    it('shows where the time went: of a task, and on average of its last tasks', async () => {
      const { id } = await testHub.send('gpt', 'Which part takes long?')
      const page = await fixture.open(`/tasks/${id}/trace`)
      const times = page.getByRole('group', { name: 'Where the time went' })
      await times.getByText('First model call').waitFor()
      await fixture.load(page, '/agents/gpt')
      await times.getByText('First model call').waitFor()
      await page.getByText(/^On average over 1 task\.$/).waitFor()
      assert.deepEqual(await seriousViolations(page), [])
      await page.close()
    })

    it('links its last error to its task', async () => {
      const task = await testHub.send('talker', 'fail again')
      const page = await fixture.open('/agents/talker')
      const link = page.getByRole('link', { name: 'a secret of ours', exact: true })
      await link.waitFor()
      assert.equal(await link.getAttribute('href'), `/tasks/${task.id}`)
      await page.close()
    })

    it('shows why it is down and when it is tried again; the retries are stopped and resumed, until it is back [full]', async () => {
      const page = await fixture.open('/agents/gone')
      const banner = page.getByRole('group', { name: 'State of gone' })
      await banner.getByText('gone fails its health check').waitFor()
      await banner.getByText('ECONNREFUSED').waitFor()
      await banner
        .getByRole('timer')
        .getByText(/^Retrying(…| in \d+ s)$/)
        .waitFor()
      assert.deepEqual(await seriousViolations(page), [])
      await banner.getByRole('button', { name: 'Stop retrying' }).click()
      await banner.getByRole('timer').getByText('Not retrying').waitFor()
      assert.equal(await banner.getByRole('button', { name: 'Stop retrying' }).count(), 0)
      await page.reload()
      await banner.getByRole('timer').getByText('Not retrying').waitFor()
      await banner.getByRole('button', { name: 'Retry now' }).click()
      await banner.getByRole('button', { name: 'Stop retrying' }).waitFor()

      const server = await serve({ name: 'Back', agent: () => 'hi', store: memoryStore(), port: gonePort, quiet: true })
      await banner.getByRole('button', { name: 'Retry now' }).click()
      await banner.waitFor({ state: 'detached' })
      await row(page, /(gone|Back) .*Up/).waitFor()
      await server.close()
      await testHub.ask('POST', '/admin/agents/gone/retry')
      await banner.waitFor()
      await row(page, /gone .*Down/).waitFor()
      await page.close()
    })

    it('shows why it failed to start, on every tab', async () => {
      const page = await fixture.open('/agents/broken')
      const banner = page.getByRole('group', { name: 'State of broken' })
      await banner.getByText('broken failed to start').waitFor()
      await banner.getByText(/Cannot find module .*not-there\.ts/).waitFor()
      await tabs(page).getByRole('link', { name: 'Connect' }).click()
      await page.getByRole('heading', { name: 'Call it from a program' }).waitFor()
      await banner.getByRole('button', { name: 'Retry now' }).waitFor()
      await page.close()
    })

    it('has every view in the address, which survives a reload', async () => {
      const page = await fixture.open('/agents/talker')
      for (const [name, heading] of [
        ['Card', 'As clients see it'],
        ['Connect', 'Call it from a program'],
        ['Settings', 'Settings of kind module'],
      ] as const) {
        await tabs(page).getByRole('link', { name }).click()
        await page.getByRole('heading', { name: heading }).waitFor()
        await page.reload()
        await page.getByRole('heading', { name: heading }).waitFor()
      }
      await page.goBack()
      await page.getByRole('heading', { name: 'Call it from a program' }).waitFor()
      await page.close()
    })

    it('shows a not-found message with a link to its remaining tasks [full]', async () => {
      const page = await fixture.open('/agents/unknown')
      await page.getByText('No agent named unknown').waitFor()
      assert.equal(
        await page.getByRole('link', { name: 'Show tasks of unknown' }).getAttribute('href'),
        '/tasks?agent=unknown',
      )
      await page.close()
    })
  })

  describe('accessibility [full]', () => {
    for (const theme of ['light', 'dark'] as const) {
      it(`has no serious violation in ${theme} colours`, async () => {
        for (const path of [
          '',
          '/artist',
          '/forecast/card',
          '/artist/connect',
          '/artist/keys?make=key',
          '/gpt/settings',
          '/gone',
        ]) {
          const page = await fixture.open(`/agents${path}`, { theme })
          if (path !== '') await tabs(page).waitFor()
          else await row(page, /^talker /).waitFor()
          assert.deepEqual(await seriousViolations(page), [], path)
          await page.close()
        }
      })
    }

    it('fits on a phone: the detail covers the list, and nothing is wider than the screen [full]', async () => {
      for (const path of [
        '',
        '/artist',
        '/forecast/card',
        '/artist/connect',
        '/artist/keys?make=key',
        '/gpt/settings',
      ]) {
        const page = await fixture.open(`/agents${path}`, { width: 390, height: 844 })
        await (path === '' ? row(page, /^talker /) : tabs(page)).waitFor()
        assert.equal(await row(page, /^talker /).isVisible(), path === '', path)
        assert.ok(await hasNoHorizontalScroll(page), path)
        await page.close()
      }
    })
  })

  it('are failing with the reason when many of their tasks fail, in the list and in the overview', async () => {
    for (const text of ['fail', 'hi', 'fail', 'hi', 'fail']) await testHub.send('talker', text)
    const page = await fixture.open('/agents?health=failing')
    await row(page, /^talker .*Failing/).waitFor()
    assert.equal(await list(page).getByRole('listitem').count(), 1)
    await page.goto(`${testHub.url}/overview`)
    const reason = /^talker .*Failing \d+ of \d+ tasks failed in the last 15 minutes .*; the newest: a secret of ours$/
    await page.getByRole('link', { name: reason }).waitFor()
    await page.close()
  })

  it('causes no page errors', () => {
    // The browser logs responses such as 404 and 400, which are expected here.
    const unexpected = fixture.pageErrors.filter((said) => !/status of (400|404|409)/.test(said))
    assert.deepEqual(unexpected, [])
  })
})
