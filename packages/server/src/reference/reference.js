/** The script of the reference: languages, copying, blanks in samples, finding operations. It sends nothing anywhere. */

const root = document.documentElement
const all = (selector) => [...document.querySelectorAll(selector)]

function chooseLanguage(id) {
  root.dataset.language = id
  for (const tab of all('.tabs button')) {
    tab.setAttribute('aria-pressed', String(tab.dataset.language === id))
  }
}

/** Private windows may forbid storage. */
function stored(write) {
  try {
    if (write) localStorage.setItem('language', write)
    return localStorage.getItem('language')
  } catch {
    return null
  }
}

chooseLanguage(stored() ?? root.dataset.language)

document.addEventListener('click', ({ target }) => {
  const tab = target.closest('.tabs button')
  if (tab) {
    // The tabs stay where they are, although samples above them change their height.
    const before = tab.getBoundingClientRect().top
    chooseLanguage(tab.dataset.language)
    stored(tab.dataset.language)
    scrollBy(0, tab.getBoundingClientRect().top - before)
  }
  const copy = target.closest('.copy')
  if (copy) void copyCode(copy)
  const menu = target.closest('.menu')
  if (menu) {
    const open = menu.getAttribute('aria-expanded') !== 'true'
    menu.setAttribute('aria-expanded', String(open))
    document.getElementById('pages').classList.toggle('open', open)
  }
})

async function copyCode(button) {
  try {
    await navigator.clipboard.writeText(button.nextElementSibling.textContent)
    button.textContent = 'Copied'
  } catch {
    button.textContent = 'Press Ctrl+C'
    getSelection().selectAllChildren(button.nextElementSibling)
  }
  setTimeout(() => {
    button.textContent = 'Copy'
  }, 1500)
}

for (const input of all('[data-blank]')) {
  input.addEventListener('input', () => {
    // Other characters would end the quotes around it.
    const value = input.value.replaceAll(/[^\w-]/g, '')
    for (const blank of all(`[data-fill="${input.dataset.blank}"]`)) {
      blank.textContent = value || blank.dataset.text
    }
  })
}

for (const form of all('form')) form.addEventListener('submit', (event) => event.preventDefault())

const find = document.getElementById('find')

/** Shows the operations that contain every word. */
find.addEventListener('input', () => {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean)
  for (const area of all('.area')) {
    let matches = 0
    for (const entry of area.querySelectorAll('li')) {
      entry.hidden = !words.every((word) => entry.dataset.text.includes(word))
      if (!entry.hidden) matches++
    }
    area.hidden = matches === 0
    area.dataset.open ??= String(area.open)
    area.open = words.length > 0 || area.dataset.open === 'true'
  }
})

document.addEventListener('keydown', (event) => {
  const typing = event.target.closest('input, textarea, select')
  if (event.key === '/' && !typing) {
    event.preventDefault()
    find.focus()
  }
})
