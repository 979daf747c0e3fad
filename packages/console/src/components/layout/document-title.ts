/** The title of the document: what is open, its section and its page, so that tabs and the history of the browser name it. */
import { useLayoutEffect } from 'preact/hooks'

type Level = 'item' | 'section' | 'page'

const titles: Partial<Record<Level, string>> = {}

/** Names a part of what is shown, until the component is removed. */
export function useDocumentTitle(level: Level, title: string): void {
  // With the heading of the page, not a frame after it.
  useLayoutEffect(() => {
    titles[level] = title
    showTitle()
    return () => {
      if (titles[level] === title) delete titles[level]
      showTitle()
    }
  }, [level, title])
}

function showTitle(): void {
  document.title = [titles.item, titles.section, titles.page, 'Parley'].filter(Boolean).join(' · ')
}
