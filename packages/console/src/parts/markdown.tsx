/**
 * What agents write, as Markdown. Nothing of it can script the page or ask anybody else for anything: it is sanitised, images
 * from elsewhere become links, and links open elsewhere without saying where one came from. Loaded when it is first needed.
 */
import { signal } from '@preact/signals'
import { loadPart } from '../api/load-part.ts'
import './markdown.css'

type Render = (text: string) => string

const render = signal<Render | undefined>(undefined)
let isAsked = false

function load(): void {
  if (isAsked) return
  isAsked = true
  void loadPart(() => import('./render-markdown.ts')).then(({ renderMarkdown }) => {
    render.value = renderMarkdown
  })
}

export function Markdown({ text }: { readonly text: string }) {
  load()
  // Until it is there, the text as it is.
  if (render.value === undefined)
    return (
      <div class="markdown plain-text" dir="auto">
        {text}
      </div>
    )
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: render.value(text) }} />
}
