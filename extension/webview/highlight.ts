// Syntax highlighting: splits code into elements with Prism's grammars. The style maps them to the
// theme's colours.

import bash from 'refractor/bash';
import c from 'refractor/c';
import cpp from 'refractor/cpp';
import csharp from 'refractor/csharp';
import css from 'refractor/css';
import diff from 'refractor/diff';
import docker from 'refractor/docker';
import go from 'refractor/go';
import ini from 'refractor/ini';
import java from 'refractor/java';
import javascript from 'refractor/javascript';
import json from 'refractor/json';
import jsx from 'refractor/jsx';
import kotlin from 'refractor/kotlin';
import makefile from 'refractor/makefile';
import markup from 'refractor/markup';
import php from 'refractor/php';
import python from 'refractor/python';
import ruby from 'refractor/ruby';
import rust from 'refractor/rust';
import sql from 'refractor/sql';
import swift from 'refractor/swift';
import toml from 'refractor/toml';
import tsx from 'refractor/tsx';
import typescript from 'refractor/typescript';
import yaml from 'refractor/yaml';
import { refractor } from 'refractor/core';
import { type Child, h } from './dom';

const LANGUAGES = [
  bash, c, cpp, csharp, css, diff, docker, go, ini, java, javascript, json, jsx, kotlin, makefile, markup, php, python, ruby, rust, sql, swift, toml, tsx, typescript,
  yaml,
];

/** Longer code is not highlighted, in UTF-16 units: it would take longer than a frame. */
const LONGEST = 5_000;

/** Prism's tokens that have a colour, mapped to CSS classes. */
const CLASSES: Readonly<Record<string, string>> = {
  keyword: 'keyword', boolean: 'keyword', important: 'keyword', directive: 'keyword', atrule: 'keyword', decorator: 'keyword', annotation: 'keyword',
  string: 'string', char: 'string', regex: 'string', url: 'string', 'attr-value': 'string', 'template-string': 'string',
  number: 'number', unit: 'number',
  comment: 'comment', prolog: 'comment', doctype: 'comment', cdata: 'comment',
  function: 'title', 'function-definition': 'title',
  'class-name': 'type', builtin: 'type', namespace: 'type',
  tag: 'name', 'attr-name': 'name', property: 'name', key: 'name', selector: 'name', variable: 'name', symbol: 'name', constant: 'name',
  'inserted-sign': 'addition', 'deleted-sign': 'deletion',
};

type Tree = ReturnType<typeof refractor.highlight>['children'][number];

let ready = false;

/** Highlighted code, or the plain code if the language is unknown. */
export function highlight(code: string, language: string): Child[] {
  if (!ready) {
    LANGUAGES.forEach((grammar) => refractor.register(grammar)); // on first use, because it takes milliseconds
    ready = true;
  }
  return code.length <= LONGEST && refractor.registered(language) ? refractor.highlight(code, language).children.flatMap((node) => shown(node)) : [code];
}

function shown(node: Tree): Child[] {
  if (node.type === 'text') {
    return [node.value];
  }
  if (node.type !== 'element') {
    return [];
  }
  const children = node.children.flatMap((child) => shown(child));
  const scope = (node.properties.className as readonly string[]).map((name) => CLASSES[name]).find((s) => s !== undefined);
  return scope === undefined ? children : [h('span', { class: `hl-${scope}` }, ...children)];
}
