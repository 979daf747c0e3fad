import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eraseTypes } from './build-packages.ts'
import { publishedManifest } from './pack-packages.ts'

describe('a published file', () => {
  it('is the source with spaces in the place of types, and imports what is built', () => {
    const source = [
      "import { a, type B } from './a.ts'",
      "import type { C } from '../c.ts'",
      "import './side-effect.ts'",
      "export const load = (): Promise<B> => import('./b.ts')",
      "import { serve } from '@parley/a2a/node'",
      'const text = `two spaces  ',
      '`',
      '',
    ]
    assert.deepEqual(eraseTypes(source.join('\n')).split('\n'), [
      "import { a,        } from './a.js'",
      '',
      "import './side-effect.js'",
      "export const load = ()             => import('./b.js')",
      "import { serve } from '@parley/a2a/node'",
      'const text = `two spaces  ',
      '`',
      '',
    ])
  })

  it('is not found by the condition for sources, which are not published', () => {
    const manifest = {
      name: 'x',
      version: '1.0.0',
      exports: { '.': { 'parley-source': './src/index.ts', default: './dist/index.js' }, './x.json': './x.json' },
    }
    assert.deepEqual(publishedManifest(manifest), {
      ...manifest,
      exports: { '.': { default: './dist/index.js' }, './x.json': './x.json' },
    })
  })
})
