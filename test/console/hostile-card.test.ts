/** A malicious agent: its card tries to run scripts, to load resources, to redirect, and to break the layout. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { openCardServer } from './card-server.ts'
import { hasNoHorizontalScroll, openConsole } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

const image = `<img src="https://evil.example/x.png" onerror="globalThis.pwned = 1">`
const script = `<script>globalThis.pwned = 2</script><svg onload="globalThis.pwned = 3">`
const markdown = `[click](javascript:globalThis.pwned=4) ![x](https://evil.example/y.png) <iframe srcdoc="${script}"></iframe>`
const long = 'x'.repeat(5_000)
const evil = 'javascript:globalThis.pwned=5'

const card = {
  name: `${image}${script} ${long}`,
  description: `${script}\n\n${markdown}\n\n${long}`,
  version: `${image}${long}`,
  provider: { organization: `${image} ${long}`, url: evil },
  documentationUrl: evil,
  iconUrl: 'https://evil.example/icon.png',
  skills: Array.from({ length: 20 }, (_, index) => ({
    id: index === 0 ? `${image}${long}` : `skill-${index}`,
    name: `${image} ${index} ${long}`,
    description: `${markdown} ${long}`,
    tags: [image, evil, long],
    examples: [`${image} ${markdown}`, `"'><img src=x onerror=globalThis.pwned=6> ${long}`, '\u202Eevil\u202C \u0000'],
    inputModes: [image],
  })),
  defaultInputModes: [`${image}/${long}`],
  defaultOutputModes: [evil],
  securitySchemes: { [image]: { openIdConnectSecurityScheme: { openIdConnectUrl: evil } } },
  securityRequirements: [{ schemes: { [image]: { list: [] } } }],
}

describeInBrowser('a hostile card', async (browser) => {
  const villain = await openCardServer(card)
  const fixture = await openConsole(browser, { agents: { villain: { kind: 'a2a', url: villain.url } } })
  const { testHub } = fixture
  const asked: string[] = []
  fixture.context.on('request', (request) => void asked.push(request.url()))

  async function assertCalm(page: Page, where: string): Promise<void> {
    assert.equal(await page.evaluate(() => (globalThis as any).pwned), undefined, where)
    assert.ok(await hasNoHorizontalScroll(page), `${where} is too wide`)
    const links = await page.locator('main a').evaluateAll((all) => all.map((one: any): string => one.href))
    assert.deepEqual(
      links.filter((href) => !/^https?:/.test(href)),
      [],
      where,
    )
    assert.equal(await page.locator('main :is(img, iframe, script, object, embed)').count(), 0, where)
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(testHub.url)),
      [],
      where,
    )
  }

  for (const width of [1280, 390]) {
    it(`runs no script, loads nothing, and stays within ${width} pixels`, async () => {
      const page = await fixture.open('/agents', { width })
      for (const path of [
        '/agents',
        '/agents/villain',
        '/agents/villain/card',
        '/agents/villain/connect',
        '/agents/villain/keys?make=key',
        '/agents/villain/settings',
        '/welcome',
      ]) {
        await fixture.load(page, path)
        await page.locator('main').getByText('onerror=').first().waitFor({ state: 'attached' })
        await assertCalm(page, path)
      }
      await page.close()
    })
  }

  it('is shown as text', async () => {
    const page = await fixture.open('/agents/villain')
    await page.getByRole('heading', { name: image, level: 2 }).waitFor()
    await page.getByText('[click](javascript:globalThis.pwned=4)').first().waitFor()
    assert.equal(
      await page
        .getByText(evil, { exact: true })
        .first()
        .evaluate((element) => element.closest('a')),
      null,
    )
    await page.getByRole('button', { name: 'Show all 20 skills' }).click()
    await assertCalm(page, 'All skills')
    await page.close()
  })

  it('passes its examples as text to the playground and to a shell', async () => {
    const page = await fixture.open('/agents/villain')
    const example = page.getByRole('list', { name: 'Examples' }).first().getByRole('link').nth(1)
    await example.click()
    await page.waitForURL(/\/playground\/villain\?text=/)
    await assertCalm(page, 'the playground')
    assert.ok(new URL(page.url()).searchParams.get('text')?.startsWith(`"'><img src=x`))
    await page.goto(`${testHub.url}/agents/villain/connect?snippet=curl`)
    const code = await page.getByLabel('curl snippet', { exact: true }).innerText()
    const body = /-d '(.*)'$/s.exec(code)?.[1]?.replaceAll(`'\\''`, "'") ?? ''
    assert.equal(JSON.parse(body).params.message.parts[0].text, `${image} ${markdown}`.slice(0, 200))
    await page.close()
  })

  it('is also harmless in the detection preview', async () => {
    const page = await fixture.open('/agents/new')
    await page.getByLabel('URL, command or file').fill(villain.url)
    await page.getByRole('button', { name: 'Detect' }).click()
    await page.getByRole('form', { name: 'Detected agent' }).waitFor()
    await assertCalm(page, 'what was found')
    await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
