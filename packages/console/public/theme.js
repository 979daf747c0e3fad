// Sets the theme before the first paint, as src/app/theme.ts does once the console has loaded. Not inline: the page's policy allows no inline script.
{
  let theme = null
  try {
    theme = localStorage.getItem('parley.theme')
  } catch {
    // Without storage, the system's preference applies.
  }
  const isDark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
}
