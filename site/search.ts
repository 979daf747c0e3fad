/** How the search of the site ranks what it finds. */

export const searchOptions = {
  // A word in a title counts more than in the text. Its plural is a prefix match, which counts little by default.
  boost: { title: 8, text: 1, titles: 1 },
  weights: { prefix: 0.6, fuzzy: 0.2 },
  /**
   * The title of a page counts more than that of a section, which has the titles above it, and a guide more than a symbol of the SDK.
   * Runs in the browser as it is written here: it uses nothing from outside.
   */
  boostDocument: (id: string, _term: string, stored?: { readonly titles?: readonly string[] }): number =>
    (stored?.titles?.length === 0 ? 2 : 1) * (id.includes('/reference/sdk/') ? 0.5 : 1),
}
