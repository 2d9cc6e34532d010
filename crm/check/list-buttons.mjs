import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from './markup.mjs'

/**
 * Checks the buttons of list views: each enriched object has one that takes the selected records, its page stands for that
 * object's list, and page and component name only what their controller has. Returns the pages that the buttons open.
 *
 * @returns {string[]}
 */
export function checkListButtons({ buttons, pages, components, classes, entities }, source, at) {
  for (const entity of entities)
    if (!buttons.some(({ object }) => object === entity))
      at(join(source, 'objects', entity), 'its list view has no button')
  const opened = []
  for (const { file, object, root } of buttons) {
    const page = textOf(root, 'page')
    if (textOf(root, 'displayType') !== 'massActionButton' || textOf(root, 'requireRowSelection') !== 'true')
      at(file, 'it takes no selected records: it is no massActionButton, or lacks requireRowSelection')
    if (!entities.includes(object)) at(file, `Paydirt enriches no ${object}`)
    if (!pages.some(({ name }) => name === page)) at(file, `there is no page ${page}`)
    else {
      opened.push(page)
      const [of] = controllersOf(join(source, 'pages', `${page}.page`))
      if (of !== object) at(file, `the page ${page} is for ${of}`)
    }
  }
  for (const { file, name } of pages) {
    const path = join(source, 'pages', `${name}.page`)
    if (!existsSync(path)) at(file, `there is no ${name}.page`)
    else checkPage(path, { classes, components }, at)
  }
  for (const { file, name } of components) {
    const path = join(source, 'components', `${name}.component`)
    if (!existsSync(path)) at(file, `there is no ${name}.component`)
    else checkComponent(path, classes, at)
  }
  return opened
}

function checkPage(path, { classes, components }, at) {
  const text = readFileSync(path, 'utf8')
  if (!/\brecordSetVar="/.test(text)) at(path, 'without recordSetVar it is given no selected records')
  const [, extension] = controllersOf(path)
  const controller = classes.get(extension)
  if (!controller) at(path, `there is no class ${extension}`)
  else checkNames(path, text, /\{!(\w+)/g, controller, at)
  for (const [, name] of text.matchAll(/<c:(\w+)/g))
    if (!components.some((it) => it.name === name)) at(path, `there is no component ${name}`)
}

function checkComponent(path, classes, at) {
  const text = readFileSync(path, 'utf8')
  for (const [, name, type] of text.matchAll(/<apex:attribute name="(\w+)" type="(\w+)"/g)) {
    const controller = classes.get(type)
    if (!controller) at(path, `there is no class ${type}`)
    else checkNames(path, text, new RegExp(String.raw`\b${name}\.(\w+)`, 'g'), controller, at)
  }
}

/** A property, a getter or an action: Visualforce finds a member by any of them. */
function checkNames(path, text, pattern, controller, at) {
  const source = readFileSync(controller.file, 'utf8')
  for (const [, name] of text.matchAll(pattern)) {
    const getter = `get${name[0].toUpperCase()}${name.slice(1)}`
    const isProperty = new RegExp(String.raw`public \w+ ${name} \{ get;`).test(source)
    if (!isProperty && !controller.methods.has(getter) && !controller.methods.has(name))
      at(path, `${controller.className} has no ${name}`)
  }
}

function controllersOf(path) {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return ['standardController', 'extensions'].map(
    (name) => new RegExp(String.raw`\b${name}="([^"]*)"`).exec(text)?.[1],
  )
}
