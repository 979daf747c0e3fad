/**
 * Markdown from agents. It is sanitised: it cannot run scripts or load anything from other hosts. External images become links,
 * and links open in a new tab without a referrer. Loaded when first needed.
 */
import { signal } from '@preact/signals'
import { render } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { loadWithRetry } from '../../api/load-with-retry.ts'
import { CodeBlock } from './code-block.tsx'
import { languageNamed } from './language-names.ts'
import type { RenderedMarkdown } from './render-markdown.ts'
import './markdown.css'

const renderer = signal<((text: string) => RenderedMarkdown) | undefined>(undefined)
let isRequested = false

function loadRenderer(): void {
  if (isRequested) return
  isRequested = true
  void loadWithRetry(() => import('./render-markdown.ts')).then(({ renderMarkdown }) => {
    renderer.value = renderMarkdown
  })
}

export function Markdown({ text }: { readonly text: string }) {
  loadRenderer()
  // Plain text until the renderer is loaded.
  if (renderer.value === undefined)
    return (
      <div class="markdown plain-text" dir="auto">
        {text}
      </div>
    )
  return <RenderedText key="rendered" text={text} toContent={renderer.value} />
}

interface RenderedTextProps {
  readonly text: string
  readonly toContent: (text: string) => RenderedMarkdown
}

/** The content is no part of the component tree, except for the code blocks in it. */
function RenderedText({ text, toContent }: RenderedTextProps) {
  const frame = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const { content, codeBlocks } = toContent(text)
    frame.current?.replaceChildren(content)
    for (const { place, code, language } of codeBlocks) {
      render(<CodeBlock text={code} label="code" language={languageNamed(language)} />, place)
    }
    return () => {
      for (const { place } of codeBlocks) render(null, place)
    }
  }, [text, toContent])
  return <div ref={frame} class="markdown" />
}
