/** A file for whoever looks at the page. */

const keptMs = 60_000

export function download(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
  // The browser may read it only after it has asked where to put it.
  setTimeout(() => URL.revokeObjectURL(url), keptMs)
}

export function downloadJson(name: string, value: unknown): void {
  download(new Blob([`${JSON.stringify(value, null, 2)}\n`], { type: 'application/json' }), name)
}
