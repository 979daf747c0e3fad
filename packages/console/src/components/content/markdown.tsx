/**
 * Markdown from agents. It is sanitised: it cannot run scripts or load anything from other hosts. External images become links,
 * and links open in a new tab without a referrer. Loaded when first needed.
 */
import { signal } from '@preact/signals'
import { loadWithRetry } from '../../api/load-with-retry.ts'
import './markdown.css'

type RenderMarkdown = (text: string) => string

const render = signal<RenderMarkdown | undefined>(undefined)
let isRequested = false

function loadRenderer(): void {
  if (isRequested) return
  isRequested = true
  void loadWithRetry(() => import('./render-markdown.ts')).then(({ renderMarkdown }) => {
    render.value = renderMarkdown
  })
}

export function Markdown({ text }: { readonly text: string }) {
  loadRenderer()
  // Plain text until the renderer is loaded.
  if (render.value === undefined)
    return (
      <div class="markdown plain-text" dir="auto">
        {text}
      </div>
    )
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: render.value(text) }} />
}
