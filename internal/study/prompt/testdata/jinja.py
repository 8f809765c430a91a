"""Writes jinja.json: what Jinja itself makes of the templates below. Run: python3 jinja.py > jinja.json

Undefined names are errors, and what is printed goes through show(), which holds the differences that package prompt documents.
"""
import json
import sys

import jinja2

FIELDS = {
    "text": "Hello World", "n": 3, "f": 2.5, "big": 9007199254740991, "yes": True, "no": False, "nil": None,
    "tags": ["b", "A", "c", "a"], "nums": [3, 1, 2, 2], "meta": {"author": "Ann", "deep": {"x": "y"}, "year": 2020},
    "rows": [{"name": "x", "v": 2}, {"name": "y", "v": 1}], "empty": "", "nothing": [], "lines": "a\n\nb\nc\n",
    "uni": "héllo wörld ÄÖ", "tricky": "{{ n }} {% if %} {SAMPLE_2} {# c #}", "space": "  padded\t\n", "num": " 42 ", "dec": "3.7",
    "long": "the quick brown fox jumps over the lazy dog", "dashes": "a-b (c) [d] <e> f_g", "nested": [[1, 2], [3]], "same": ["a", "A", "b", 1, 1.0],
}

TEMPLATES = r"""
plain text
{{ text }}
{{ item.text }}
{{ item["text"] }} and {{ item['meta'].author }}
{{ meta.deep.x }}
{{ tricky }}
{{ tricky }}{{ tricky | upper }}
{{ missing }}
{{ item.missing }}
{{ meta.missing.more }}
{{ missing | default("d") }}
{{ missing | default }}
{{ item.missing | d("d") }}
{{ meta.missing.more | default("d") }}
{{ empty | default("d") }}
{{ empty | default("d", true) }}
{{ empty | default("d", boolean=true) }}
{{ nil | default("d") }}
{{ nil }}|{{ yes }}|{{ no }}|{{ n }}|{{ f }}|{{ big }}
{{ 1 }} {{ 1.5 }} {{ 1e3 }} {{ 1_000 }} {{ 0x1f }} {{ 'a' "b" }}
{{ 'it\'s' }} {{ "a\tb" }} {{ 'é\u00e9\x41\101' }} {{ 'a\qb' }}
a {{- n -}} b
a {{ n -}} b
a {{- n }} b
a {%- if yes -%} x {%- endif -%} b
a {% if yes %} x {% endif %} b
a {#- note -#} b
a {# note #} b
a {#-#} b
a {%+ if yes +%} x {%+ endif %} b
{% raw %}{{ n }} {% if %}{% endraw %}
a {%- raw -%} {{ n }} {%- endraw -%} b
{% raw %}{% endraw %}
{%raw%} x {%  endraw  %}
{% if n > 2 %}big{% elif n > 1 %}mid{% else %}small{% endif %}
{% if n > 5 %}big{% elif n > 2 %}mid{% else %}small{% endif %}
{% if n > 5 %}big{% elif n > 4 %}mid{% else %}small{% endif %}
{% if empty %}1{% endif %}{% if nothing %}2{% endif %}{% if nil %}3{% endif %}{% if tags %}4{% endif %}{% if meta %}5{% endif %}{% if 0 %}6{% endif %}{% if 0.0 %}7{% endif %}
{% if missing %}x{% endif %}
{% if missing is defined %}x{% else %}y{% endif %}
{% if no %}{{ missing }}{% endif %}
{% if not no and yes or missing %}x{% endif %}
{% for t in tags %}{{ loop.index }}{{ t }}{% if not loop.last %}, {% endif %}{% endfor %}
{% for t in tags %}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }} {% endfor %}
{% for t in nothing %}x{% else %}none{% endfor %}
{% for r in rows %}{{ r.name }}={{ r.v }};{% endfor %}
{% for t in tags if t != "A" %}{{ loop.index }}{{ t }}{% endfor %}
{% for t in tags if t == "Z" %}{{ t }}{% else %}no{% endfor %}
{% for r in nested %}{% for x in r %}{{ loop.index }}{{ x }}{% endfor %}{{ loop.index }};{% endfor %}
{% for item in rows %}{{ item.name }}{% endfor %}{{ item.text }}
{% for k in meta %}{{ k }} {% endfor %}
{% for x in n %}{% endfor %}
{% for t in tags %}{{ missing }}{% endfor %}
{% for t in nothing %}{{ missing }}{% endfor %}
{% set x = 1 %}{{ x }}{% set x = x + 1 %}{{ x }}
{% set x = 1 %}{% for t in tags %}{{ x }}{% set x = 2 %}{{ x }}{% endfor %}{{ x }}
{% for t in tags %}{% if x is defined %}d{% else %}u{% endif %}{% set x = 1 %}{% endfor %}
{% for t in tags %}{% set x = t %}{% endfor %}{{ x }}
{% if yes %}{% set x = 1 %}{% endif %}{{ x }}
{% if no %}{% set x = 1 %}{% endif %}{{ x }}
{% if no %}{% set n = 1 %}{% endif %}{{ n }}
{% set n = n + 1 %}{{ n }} {{ item.n }}
{% for t in nothing %}{% else %}{% set x = 1 %}{{ x }}{% endfor %}
{% for n in nums %}{{ n }}{% endfor %}{{ n }}
{% for t in tags %}{{ t }}{% endfor %}{{ t }}
{{ 1 + 2 * 3 }} {{ (1 + 2) * 3 }} {{ 7 / 2 }} {{ 4 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 % -3 }}
{{ 7.5 // 2 }} {{ -7.5 // 2 }} {{ 7.5 % 2 }} {{ -7.5 % 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ -2 ** 2 }} {{ 2 ** 3 ** 2 }} {{ 2.5 ** 2 }}
{{ n + f }} {{ n - f }} {{ -n }} {{ +n }} {{ - -n }} {{ n * 1.0 }} {{ 0.1 + 0.2 }} {{ 1 / 3 }} {{ 1e100 }} {{ 1e-10 }}
{{ n / 0 }}
{{ n // 0 }}
{{ n % 0 }}
{{ text + 1 }}
{{ 1 + text }}
{{ text - text }}
{{ text + "!" }} {{ "-" * 5 }} {{ "-" * 0 }} {{ "-" * -1 }}
{{ nums + [4] == [3, 1, 2, 2, 4] }}
{{ n ~ text ~ 1 ~ 'x' }}
{{ 1 ~ 2 + 3 }}
{{ n == 3 }} {{ n == 3.0 }} {{ n == "3" }} {{ n != 3 }} {{ yes == 1 }} {{ nil == none }} {{ nil == 0 }} {{ text == "Hello World" }}
{{ n < 4 }} {{ n <= 3 }} {{ n > 3 }} {{ n >= 3 }} {{ "a" < "b" }} {{ 1 < n < 5 }} {{ 1 < n < 2 }} {{ 5 > n > 2 > 1 }}
{{ text < 1 }}
{{ nil < 1 }}
{{ "ell" in text }} {{ "xyz" in text }} {{ "a" in tags }} {{ "Z" not in tags }} {{ 2 in nums }} {{ 2.0 in nums }} {{ "author" in meta }} {{ "nobody" in meta }}
{{ 1 in text }}
{{ 1 in n }}
{{ [1, 2] == [1, 2] }} {{ (1, 2) == (1, 2) }} {{ meta == item.meta }} {{ meta == rows }} {{ rows[0] == rows[1] }} {{ nested == [[1, 2], [3]] }}
{{ not yes }} {{ not not yes }} {{ yes and no }} {{ yes or no }} {{ no or "x" }} {{ yes and "x" }} {{ empty or text }} {{ not n == 3 }} {{ not n in nums }}
{{ "a" if yes else "b" }} {{ "a" if no else "b" }} {{ "a" if no else "b" if no else "c" }}
{{ tags[0] }} {{ tags[-1] }} {{ tags.0 }} {{ text[0] }} {{ text[-1] }} {{ uni[1] }} {{ rows[1].name }} {{ rows.1.name }} {{ nested[0][1] }} {{ nested.0.1 }}
{{ tags[9] }}
{{ tags[-9] }}
{{ text[99] }}
{{ text[1:3] }} {{ text[:5] }} {{ text[6:] }} {{ text[-5:] }} {{ text[:-6] }} {{ text[3:1] }} {{ text[:99] }} {{ uni[1:7] }} {{ text[:] }} {{ tags[1:3] | join }} {{ nums[-2:] | join("-") }}
{{ n[1:2] }}
{{ meta["au" ~ "thor"] }}
{{ nil.x }}
{{ text.x }}
{{ text.x | default("d") }}
{{ tags }}
{{ meta }}
{{ space | trim }}|{{ text | trim("Hd") }}|{{ n | trim }}
{{ text | upper }} {{ text | lower }} {{ uni | upper }} {{ uni | title }} {{ uni | capitalize }} {{ dashes | title }} {{ "aBC dEF" | capitalize }} {{ "they're" | title }} {{ "" | capitalize }} {{ "" | title }} {{ f | upper }}
{{ text | length }} {{ uni | length }} {{ tags | length }} {{ meta | length }} {{ tags | count }}
{{ n | length }}
{{ tags | join(", ") }} {{ tags | join }} {{ nums | join("+") }} {{ text | join("-") }} {{ rows | join(",", attribute="name") }} {{ rows | join(",", "v") }} {{ meta | join(",") }} {{ nothing | join(",") }}
{{ rows | join(",", attribute="zzz") }}
{{ n | join }}
{{ tags | first }} {{ tags | last }} {{ text | first }} {{ text | last }} {{ meta | first }}
{{ nothing | first }}
{{ nothing | first | default("d") }}
{{ text | replace("l", "L") }} {{ text | replace("l", "L", 1) }} {{ text | replace("", "-") }} {{ text | replace(" ", "") }} {{ n | replace(3, 4) }} {{ text | replace("l", "L", count=2) }}
{{ long | truncate(20) }} {{ long | truncate(20, true) }} {{ long | truncate(20, false, "!") }} {{ long | truncate(40) }} {{ long | truncate(38, leeway=0) }} {{ "abcdefghijklmnop" | truncate(8) }} {{ uni | truncate(6, true, "", 0) }} {{ long | truncate }}
{{ long | truncate(1) }}
{{ long | wordcount }} {{ dashes | wordcount }} {{ uni | wordcount }} {{ empty | wordcount }} {{ n | wordcount }}
{{ lines | indent }}|{{ lines | indent(2) }}|{{ lines | indent(2, true) }}|{{ lines | indent(2, true, true) }}|{{ lines | indent("> ") }}|{{ text | indent(first=true) }}|{{ "" | indent }}|{{ lines | indent(blank=true) }}
{{ f | round }} {{ 3.5 | round }} {{ 0.5 | round }} {{ 2.675 | round(2) }} {{ 2.1234 | round(2) }} {{ 2.1 | round(0, "ceil") }} {{ 2.9 | round(method="floor") }} {{ -2.5 | round }} {{ 1234 | round(-2) }} {{ 42 | round(1) }} {{ 2.15 | round(1, "ceil") }}
{{ text | round }}
{{ num | int }} {{ dec | int }} {{ text | int }} {{ text | int(7) }} {{ f | int }} {{ -2.7 | int }} {{ yes | int }} {{ nil | int }} {{ empty | int(default=9) }} {{ "-5" | int }} {{ "1e3" | int }}
{{ num | float }} {{ dec | float }} {{ text | float }} {{ text | float(1.5) }} {{ n | float }} {{ "1e3" | float }} {{ ".5" | float }}
{{ n | string ~ "x" }} {{ f | string }} {{ text | string | length }} {{ (n | string) == "3" }}
{{ tags | sort | join }} {{ tags | sort(reverse=true) | join }} {{ tags | sort(case_sensitive=true) | join }} {{ nums | sort | join }} {{ rows | sort(attribute="v") | join(",", "name") }} {{ "hello" | sort | join }} {{ nums | sort(true) | join }} {{ meta | sort | join(" ") }}
{{ same | sort }}
{{ rows | sort }}
{{ nums | unique | join }} {{ tags | unique | join }} {{ tags | unique(true) | join }} {{ same | unique | list | length }} {{ rows | unique(attribute="v") | list | length }}
{{ nested | unique | list }}
{{ "abc" | list | join("-") }} {{ meta | list | join("-") }} {{ tags | list | length }}
{{ tags | sort | first | upper ~ "!" }}
{{ text | upper | lower | title | length + 1 }}
{{ -n | string }} {{ (-n) | string }} {{ 2 * n | int }}
{{ n is defined }} {{ missing is defined }} {{ missing is not defined }} {{ missing is undefined }} {{ n is undefined }} {{ item.missing is defined }} {{ item.n is defined }} {{ not missing is defined }}
{{ nil is none }} {{ n is none }} {{ nil is not none }} {{ text is string }} {{ n is string }} {{ n is number }} {{ f is number }} {{ yes is number }} {{ text is number }} {{ yes is boolean }} {{ n is boolean }} {{ yes is true }} {{ yes is false }} {{ n is true }} {{ meta is mapping }} {{ tags is mapping }} {{ tags is sequence }} {{ text is sequence }} {{ n is sequence }} {{ tags is iterable }} {{ n is iterable }}
{{ n is odd }} {{ n is even }} {{ 4 is even }} {{ 0 is even }} {{ -3 is odd }}
{{ text is even }}
{{ "a" is string and n is number }}
{{ "x" if missing is defined else "y" }}
{{ (n) }} {{ ((n)) }} {{ (n, 1)[0] }} {{ ()|length }} {{ [] | length }} {{ [1,] | length }} {{ (1,) | length }}
{{ text.upper }}
{{ loop }}
{{ loop.index }}
{{ n }}{{ n }}
{{n}}{{text}}
{{ "}}" }} {{ '{%' }} {{ "{{ n }}" }}
{ n } {} }} %} #} { { n } }
{{ n
}} and {{
n }}
{{ 'a
b' }}
""".strip("\n").split("\n")

# templates of more than one line
TEMPLATES[-5:] = ["{{ n\n}} and {{\nn }}", "{{ 'a\nb' }}"]
TEMPLATES += [
    "", "\n", "\n\n", "a\n", "a\n\n", "a\r\nb\rc\r\n", "{{ n }}\n", "{{ n }}\n\n", "{% if yes %}\nx\n{% endif %}\n", "{% if yes -%}\n x\n{%- endif %}\n", "a\n  {%- for t in tags %}\n  {{ t }}\n  {%- endfor %}\nb",
    "a \u00a0\u2003{{- n -}}\u3000 b", "{#\n{{ n }}\n#}x", "{# a #}{# b #}", "a{# {% raw %} #}b", "{{ '\\\n' }}x",
]


def show(value):
    if value is None:
        return ""
    if value is True or value is False:
        return str(value).lower()
    if isinstance(value, (list, dict, tuple)) or callable(value):
        raise TypeError("does not print")
    if isinstance(value, float) and value == int(value) and abs(value) < 1e21:
        return int(value)
    return value


def main():
    env = jinja2.Environment(undefined=jinja2.StrictUndefined, finalize=show)
    names = dict(FIELDS, item=FIELDS)
    cases = []
    for template in TEMPLATES:
        case = {"template": template}
        try:
            case["want"] = env.from_string(template).render(names)
        except Exception:
            case["error"] = True
        cases.append(case)
    json.dump({"jinja": jinja2.__version__, "fields": FIELDS, "cases": cases}, sys.stdout, indent=1, ensure_ascii=False, sort_keys=True)
    sys.stdout.write("\n")


main()
