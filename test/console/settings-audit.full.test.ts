/** Settings: the audit log, filtered by the address and live; the keys; the about page. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { waitFor } from '../admin/test-hub.ts'
import { readClipboard } from './page-queries.ts'
import { openConsole, seriousViolations } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('the audit log', async (browser) => {
  const fixture = await openConsole(browser)
  const { testHub } = fixture
  const { json: key } = await testHub.ask('POST', '/admin/keys', { name: 'build', agents: ['talker'] })
  const task = await testHub.send('talker', 'hello', { authorization: `Bearer ${key.key}` })
  await testHub.send('gpt', 'hello')
  await testHub.ask('GET', '/admin/agents', undefined, { authorization: 'Bearer not the admin key' })
  const rows = (page: Page) => page.getByRole('list', { name: 'Audit' }).getByRole('link')
  const what = (page: Page) => page.getByRole('list', { name: 'Audit' }).locator('.audit-what')

  it('has the actions, newest first, without reads', async () => {
    const page = await fixture.open('/settings/audit')
    await rows(page).first().waitFor()
    const all = await what(page).allTextContents()
    assert.ok(all.includes('created a key'), all.join(', '))
    assert.ok(all.includes('SendMessage talker'))
    // Rejected callers are listed, whatever they requested.
    assert.deepEqual(
      all.filter((one) => one.startsWith('GET ')),
      ['GET /admin/agents'],
    )
    await page.getByLabel('Include read-only requests').check()
    await page.waitForURL('**/settings/audit?reads=1')
    await what(page).filter({ hasText: 'GET /admin/audit' }).first().waitFor()
    assert.equal(await page.title(), 'Audit · Settings · Parley')
    await page.close()
  })

  it('is filtered by caller, agent, event, outcome, time and text, each held in the address', async () => {
    const page = await fixture.open('/settings/audit')
    const only = async (wanted: RegExp): Promise<void> => {
      await waitFor(async () => {
        const all = await rows(page).allTextContents()
        return all.length > 0 && all.every((one) => wanted.test(one)) ? true : undefined
      }, `all say ${wanted}`)
    }
    await page.getByLabel('Event').selectOption('task.state')
    await only(/Task 0/)
    await page.getByLabel('Agent').selectOption('talker')
    await page.waitForURL('**/settings/audit?event=task.state&agent=talker')
    await page.getByLabel('Event').selectOption('')
    await page.getByLabel('Agent').selectOption('gpt')
    await only(/gpt/)
    await page.getByLabel('Agent').selectOption('')
    await page.getByLabel('Outcome').selectOption('UNAUTHENTICATED')
    await only(/unauthenticated/)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.keyboard.press('/')
    await page.keyboard.type('KEY.CREATED')
    await only(/created a key/)
    await page.waitForURL('**/settings/audit?text=KEY.CREATED')
    await page.keyboard.press('Escape')
    await page.getByLabel('Caller').fill(key.principal)
    await page.getByText('No matching entries').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).last().click()
    await page.getByLabel('Caller').fill(key.principal)
    await page.getByLabel('Caller').press('Enter')
    await page.getByLabel('Time').selectOption('1h')
    await page.reload()
    // By the name of its key.
    await only(/build/)
    assert.equal(await page.getByLabel('Time').inputValue(), '1h')
    await page.getByLabel('Time').selectOption('custom')
    await page.getByLabel('From').waitFor()
    await page.goto(`${testHub.url}/settings/audit?until=2020-01-01T00:00:00Z`)
    await page.getByText('No matching entries').waitFor()
    await page.close()
  })

  it('opens an entry beside the list, with links; also by its address alone', async () => {
    const page = await fixture.open(`/settings/audit?task=${task.id}&event=call`)
    await rows(page).first().click()
    await page.waitForURL(/\/settings\/audit\/[0-9a-f-]{36}\.\d+\?/)
    const detail = page.getByRole('region', { name: 'Selected' })
    await detail.getByRole('heading', { name: 'build: SendMessage' }).waitFor()
    await detail.getByText('"SendMessage"').waitFor()
    assert.equal(await detail.getByRole('link', { name: 'talker' }).getAttribute('href'), '/agents/talker')
    assert.equal(await detail.locator(`a[href="/tasks/${task.id}"]`).count(), 1)
    assert.equal(await detail.locator(`a[href="/settings/keys?key=${key.id}"]`).count(), 1)
    assert.deepEqual(await seriousViolations(page), [])
    // A shared address without the filters: the list may begin at another entry.
    const { pathname } = new URL(page.url())
    await page.goto(`${testHub.url}${pathname}?event=session.opened`)
    await detail.getByRole('heading', { name: 'build: SendMessage' }).waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL('**/settings/audit?event=session.opened')
    await page.goto(`${testHub.url}/settings/audit/nonsense`)
    await page.getByText('Entry not found').waitFor()
    await page.close()
  })

  it('is navigated by keyboard', async () => {
    const page = await fixture.open('/settings/audit')
    await rows(page).first().waitFor()
    await page.keyboard.press('j')
    await page.waitForURL(/\/settings\/audit\/.+/)
    const first = page.url()
    await page.keyboard.press('j')
    await page.waitForURL((url) => url.href !== first)
    await page.keyboard.press('k')
    await page.waitForURL(first)
    await page.keyboard.press('Escape')
    await page.waitForURL('**/settings/audit')
    await rows(page).first().focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(first)
    await page.close()
  })

  it('adds new entries at the top, and holds them back while the user reads further down', async () => {
    for (let count = 0; count < 20; count += 1) await testHub.send('talker', `filling ${count}`)
    const page = await fixture.open('/settings/audit?event=call&agent=shout')
    await page.getByText('No matching entries').waitFor()
    await testHub.send('shout', 'hello')
    await rows(page).filter({ hasText: 'shout' }).first().waitFor()
    await page.goto(`${testHub.url}/settings/audit?agent=talker`)
    await rows(page).first().waitFor()
    const list = page.locator('.audit-list')
    await list.evaluate((element) => (element.scrollTop = 300))
    await testHub.send('talker', 'while the user reads')
    await page.getByRole('button', { name: 'Newer entries' }).waitFor()
    assert.equal(await list.evaluate((element) => element.scrollTop), 300)
    await page.getByRole('button', { name: 'Newer entries' }).click()
    await page.getByRole('button', { name: 'Newer entries' }).waitFor({ state: 'detached' })
    await page.close()
  })

  it('is loaded on scroll, and renders only visible rows', async () => {
    for (let count = 0; count < 40; count += 1) await testHub.send('talker', `more ${count}`)
    const page = await fixture.open('/settings/audit')
    await rows(page).first().waitFor()
    const size = async (): Promise<number> =>
      Number(await page.locator('.audit-list li').first().getAttribute('aria-setsize'))
    assert.equal(await size(), 100)
    await waitFor(async () => {
      await page.locator('.audit-list').evaluate((element) => (element.scrollTop = element.scrollHeight))
      return (await size()) >= 150 ? true : undefined
    }, 'there are 150 lines')
    assert.ok((await rows(page).count()) < 60)
    await page.close()
  })

  it('is refreshed on request, exported line by line, and copied as a command', async () => {
    const page = await fixture.open('/settings/audit?event=key.created')
    await rows(page).first().waitFor()
    const { json: another } = await testHub.ask('POST', '/admin/keys', { name: 'another', agents: ['talker'] })
    await page.getByRole('button', { name: 'Refresh' }).click()
    await rows(page).nth(1).waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ])
    assert.match(file.suggestedFilename(), /^audit-.*\.jsonl$/)
    const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n')
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { key: string }).key),
      [another.id, key.id],
    )
    await fixture.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'curl' }).click()
    const copied = await readClipboard(page)
    assert.match(
      copied,
      /^curl -H "Authorization: Bearer \$PARLEY_ADMIN_KEY" '.*\/admin\/audit\?event=key\.created&reads=no'$/,
    )
    await page.close()
  })

  it('shows the keys of all agents, and the linked one', async () => {
    const page = await fixture.open(`/settings/keys?key=${key.id}`)
    await page.getByText('build', { exact: true }).first().waitFor()
    assert.equal(await page.title(), 'Keys · Settings · Parley')
    await page.close()
  })

  it('shows the version, lists the keys, and changes the theme', async () => {
    const page = await fixture.open('/settings/about')
    await page.getByText(/^Parley \d/).waitFor()
    await page.getByText('admin', { exact: true }).waitFor()
    assert.equal(await page.getByRole('link', { name: /OpenAPI/ }).getAttribute('href'), '/admin/openapi.json')
    await page.getByText('Search or go to anything').waitFor()
    const theme = (): Promise<string> => page.evaluate('document.documentElement.dataset.theme')
    await page.getByRole('button', { name: 'Dark', exact: true }).click()
    assert.equal(await theme(), 'dark')
    await page.reload()
    await page.getByRole('button', { name: 'Dark', exact: true, pressed: true }).waitFor()
    assert.equal(await theme(), 'dark')
    await page.getByRole('button', { name: 'System' }).click()
    assert.equal(await theme(), 'light')
    await page.emulateMedia({ colorScheme: 'dark' })
    await waitFor(async () => ((await theme()) === 'dark' ? true : undefined), 'it is dark')
    await page.close()
  })

  for (const theme of ['light', 'dark'] as const) {
    it(`is accessible, ${theme} and narrow, as are keys and about`, async () => {
      for (const width of [1280, 390]) {
        for (const path of ['/settings/audit', '/settings/keys', '/settings/about']) {
          const page = await fixture.open(path, { theme, width })
          await page.locator('.audit-row, .keys, .key-list').first().waitFor()
          assert.deepEqual(await seriousViolations(page), [], `${path} ${width}`)
          assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
          await page.close()
        }
      }
    })
  }

  it('has its filters behind one button on a phone', async () => {
    const page = await fixture.open('/settings/audit', { width: 390, height: 844 })
    assert.equal(await page.getByLabel('Event').isVisible(), false)
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByLabel('Event').selectOption('key.created')
    await rows(page).first().click()
    await page.getByRole('heading', { name: 'admin: created a key' }).waitFor()
    await page.getByRole('link', { name: 'Close' }).click()
    await rows(page).first().waitFor()
    await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
