/** The pages of the site: which files they are, where links lead, and the sidebar. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { notPages, pageOf, sidebarOf, siteLink } from '../../site/pages.ts'
import { slugOf } from '../../site/slug.ts'
import { sourceLinks, type Markdown } from '../../site/source-links.ts'

const root = mkdtempSync(join(tmpdir(), 'parley-docs-'))
after(() => rmSync(root, { recursive: true, force: true }))

const files: Readonly<Record<string, string>> = {
  'docs/guides/zebra.md': '# A zebra\n',
  'docs/guides/push.md': '# Webhooks\n',
  'docs/guides/agents/acp.md': '# `ACP` programs\n',
  'docs/explanation/scale.md': '# Scale\n',
  'docs/overview.md': '# Overview\n',
  'README.md': '# Parley\n',
  'CONTRIBUTING.md': '# Contributing\n',
  'packages/a2a/README.md': '# A package\n',
}
for (const [path, text] of Object.entries(files)) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

describe('the sidebar', () => {
  const sidebar = sidebarOf(root)

  it('has every page under its first heading, in the listed order, then by title', () => {
    const guides = sidebar.find(({ text }) => text === 'Guides')
    assert.deepEqual(guides?.items, [
      { text: 'Agent kinds', collapsed: true, items: [{ text: 'ACP programs', link: '/guides/agents/acp' }] },
      { text: 'Webhooks', link: '/guides/push' },
      { text: 'A zebra', link: '/guides/zebra' },
    ])
  })

  it('begins with pages that are in no part, and omits parts without pages', () => {
    assert.deepEqual(
      sidebar.map(({ text }) => text),
      ['Overview', 'Guides', 'Explanation', 'Contributing'],
    )
  })
})

describe('a link between files', () => {
  it('leads to the page of the file, wherever that is', () => {
    assert.equal(siteLink('docs/guides/a.md', '../explanation/scale.md#part'), '/explanation/scale.md#part')
    assert.equal(siteLink('CONTRIBUTING.md', 'docs/guides/push.md'), '/guides/push.md')
    assert.equal(siteLink('docs/guides/a.md', '../../ARCHITECTURE.md'), '/contributing/architecture.md')
  })

  it('to a page that does not exist stays a link, so that the build fails', () => {
    assert.equal(siteLink('docs/guides/a.md', 'missing.md'), '/guides/missing.md')
  })

  it('to a file that is no page becomes plain text', () => {
    assert.equal(siteLink('docs/guides/a.md', '../../packages/a2a/src/index.ts'), undefined)
    assert.equal(siteLink('docs/guides/a.md', '../../README.md'), undefined)
    assert.deepEqual(rendered('docs/guides/a.md', '../../packages/a2a/src/index.ts'), ['text'])
    assert.deepEqual(rendered('docs/guides/a.md', 'b.md'), ['link_open /guides/b.md', 'text', 'link_close'])
    assert.deepEqual(rendered('docs/guides/a.md', 'https://example.com'), [
      'link_open https://example.com',
      'text',
      'link_close',
    ])
  })
})

/** The tokens of a paragraph with one link, after the rule. */
function rendered(file: string, href: string): readonly string[] {
  const token = (type: string, given: string | null = null) => {
    let value = given
    return {
      type,
      children: null,
      attrGet: () => value,
      attrSet: (_name: string, next: string) => void (value = next),
    }
  }
  const children = [token('link_open', href), token('text'), token('link_close')]
  const inline = { ...token('inline'), children }
  const markdown: Markdown = {
    core: { ruler: { push: (_name, rule) => rule({ tokens: [inline], env: { path: join(root, file) } }) } },
  }
  sourceLinks(markdown, root)
  return inline.children.map((one) => [one.type, one.attrGet()].filter((word) => word !== null).join(' '))
}

describe('the files of the site', () => {
  it('are those of docs and a few others', () => {
    assert.equal(pageOf('docs/a/b.md'), 'a/b.md')
    assert.equal(pageOf('CHANGELOG.md'), 'contributing/changelog.md')
    assert.equal(pageOf('site/sdk/client.md'), 'reference/sdk/client.md')
    assert.equal(pageOf('packages/a2a/README.md'), undefined)
    assert.equal(pageOf('docs/img/a.png'), undefined)
    assert.deepEqual(notPages(root).sort(), ['README.md', 'packages/**'])
  })

  it('have headings with the ids that repository hosts give them', () => {
    assert.equal(slugOf('5. Settings & `limits`, in short'), '5-settings--limits-in-short')
  })
})
