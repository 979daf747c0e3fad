/** The routes of an agent: its rules as text, the health of their agents, and which rule a message would match. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { hasNoHorizontalScroll, openConsole, seriousViolations } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

const routes = [
  { name: 'invoices', from: 'talker', when: { text: ['invoice', 'bill'] }, to: 'artist' },
  {
    name: 'trial',
    from: ['gpt', 'talker'],
    when: { metadata: { 'order.kind': ['a', 'b'] }, caller: 'team-*' },
    to: [
      { agent: 'gpt', weight: 9 },
      { agent: 'shout', weight: 1 },
    ],
    fallback: ['clock'],
  },
  { from: 'talker', when: { parts: 'image/*' }, to: 'artist', priority: 10 },
  { name: 'remote', from: 'artist', when: { text: 'remote' }, to: 'gone', fallback: 'talker' },
]

describeInBrowser('the routes of an agent', async (browser) => {
  const fixture = await openConsole(browser, {
    agents: { gone: { kind: 'a2a', url: 'http://127.0.0.1:9' } },
    config: { routes },
  })

  const rules = (page: Page) => page.getByRole('region', { name: 'Rules' }).getByRole('listitem')
  const rule = (page: Page, name: string) => rules(page).filter({ hasText: name })
  const decision = (page: Page) => page.locator('.routes-decision')

  it('are its rules as text, in order, with the health of their agents; the address of the former page opens them', async () => {
    const page = await fixture.open('/routes')
    await page.waitForURL('**/agents/talker/routes')
    await rule(page, 'invoices').waitFor()
    const names = await rules(page).getByRole('heading').allInnerTexts()
    assert.deepEqual(names, ['Rule 3', 'invoices', 'trial'])
    const texts = (await rules(page).allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))
    assert.match(texts[0] ?? '', /Priority 10 .*From talker when it has a part “image\/\*” to artist/)
    assert.match(texts[1] ?? '', /when the text contains “invoice” or “bill” to artist/)
    assert.match(
      texts[2] ?? '',
      /order\.kind is “a” or “b”, and the caller is “team-\*” to gpt ?90 % shout ?10 % fallback clock/,
    )
    await page.getByRole('link', { name: 'Edit configuration' }).click()
    await page.waitForURL('**/settings/config')
    await fixture.load(page, '/agents/artist/routes')
    await rule(page, 'remote')
      .getByText(/Down|Unavailable/)
      .waitFor()
    await page.close()
  })

  it('shows which rule a message would match, and why the others do not; that can be shared', async () => {
    const page = await fixture.open('/agents/talker/routes')
    await page.getByLabel('Text', { exact: true }).fill('please pay this invoice')
    await page.getByRole('button', { name: 'Test route' }).click()
    await page.getByText('Routed to artist by “invoices”').waitFor()
    assert.equal(new URL(page.url()).search, '?message=please+pay+this+invoice')
    await decision(page).getByText('it has no part of this type').waitFor()
    await rule(page, 'invoices').getByText('Selected').waitFor()
    await rule(page, 'Rule 3').getByText('No match').waitFor()
    const other = await fixture.open(new URL(page.url()).pathname + new URL(page.url()).search)
    await other.getByText('Routed to artist by “invoices”').waitFor()
    assert.equal(await other.getByLabel('Text', { exact: true }).inputValue(), 'please pay this invoice')
    await other.close()
    await page.getByLabel('Text', { exact: true }).fill('nothing special')
    await page.getByRole('button', { name: 'Test route' }).click()
    await page.getByText('talker handles it itself').waitFor()
    await page.goBack()
    await page.getByText('Routed to artist by “invoices”').waitFor()
    await page.getByRole('link', { name: 'Clear' }).click()
    await decision(page).waitFor({ state: 'detached' })
    await page.close()
  })

  it('uses caller, metadata and parts, and shows the candidates with weights and health', async () => {
    const page = await fixture.open('/agents/gpt/routes')
    await page.getByText('Skill, caller, metadata, parts').click()
    await page.getByLabel('Caller').fill('team-red')
    await page.getByLabel('Metadata (JSON)').fill('{"order": ')
    await page.getByText(/Not valid JSON/).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Test route' }).isDisabled(), true)
    await page.getByLabel('Metadata (JSON)').fill('{"order": {"kind": "b"}}')
    await page.getByRole('button', { name: 'Test route' }).click()
    await page.getByText(/Routed to (gpt|shout) by “trial”/).waitFor()
    const rows = page.getByRole('table', { name: 'Candidates' }).getByRole('row')
    assert.match(await rows.filter({ hasText: 'gpt' }).innerText(), /90 %[\s\S]*Up/)
    assert.match(await rows.filter({ hasText: 'clock' }).innerText(), /Fallback[\s\S]*3/)

    await fixture.load(page, '/agents/talker/routes')
    await page.getByText('Skill, caller, metadata, parts').click()
    await page.getByLabel('Media type of a file').fill('image/png')
    await page.getByRole('button', { name: 'Test route' }).click()
    await page.getByText('Routed to artist by “Rule 3”').waitFor()
    await page.close()
  })

  it('shows the replacement of an agent that is down', async () => {
    const page = await fixture.open('/routes?agent=artist&text=remote+work')
    await page.waitForURL('**/agents/artist/routes?message=remote+work')
    await page.getByText('Routed to talker by “remote”').waitFor()
    await page.getByText('The fallback gets the message.').waitFor()
    const rows = page.getByRole('table', { name: 'Candidates' }).getByRole('row')
    assert.match(await rows.filter({ hasText: 'gone' }).innerText(), /Down[\s\S]*—/)
    await page.close()
  })

  it('fill the box with a matching message', async () => {
    const page = await fixture.open('/agents/talker/routes')
    await rule(page, 'trial').waitFor()
    await page.getByRole('link', { name: 'Test trial' }).click()
    await page.getByText(/by “trial”/).waitFor()
    await page.getByRole('link', { name: 'Clear' }).click()
    await decision(page).waitFor({ state: 'detached' })
    await page.close()
  })

  it('is accessible: no serious violation in both themes, and nothing is cut off on a phone', async () => {
    for (const look of [{}, { theme: 'dark' }, { width: 390, height: 844 }] as const) {
      const page = await fixture.open('/agents/artist/routes?message=remote&parts=data', look)
      await decision(page).waitFor()
      assert.deepEqual(await seriousViolations(page), [], JSON.stringify(look))
      assert.ok(await hasNoHorizontalScroll(page), 'it is cut off')
      await page.close()
    }
  })

  it('follows the configuration: without rules it explains one, and shows new ones', async () => {
    const page = await fixture.open('/agents/talker/routes')
    await rule(page, 'invoices').waitFor()
    const { json } = await fixture.testHub.ask('GET', '/admin/config')
    const text = await readFile(fixture.testHub.file, 'utf8')
    const without = text.slice(0, text.indexOf('routes:'))
    const applied = await fixture.testHub.ask('PUT', '/admin/config', { text: without, base: json.hash })
    assert.equal(applied.status, 200, JSON.stringify(applied.json))
    await page.getByRole('heading', { name: 'No routes yet' }).waitFor()
    const example = await page.locator('.empty pre').innerText()
    assert.match(example, /^routes:/)
    // Its agents are those of this hub, so it is valid as shown.
    const checked = await fixture.testHub.ask('POST', '/admin/config/check', { text: without + example })
    assert.deepEqual(checked.json, { problems: [] })
    assert.deepEqual(await seriousViolations(page), [])
    await fixture.testHub.ask('PUT', '/admin/config', { text: `${without}routes: [{ from: talker, to: clock }]\n` })
    await rule(page, 'Rule 1').getByText('always').waitFor()
    await page.close()
    await writeFile(fixture.testHub.file, text)
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
