/* completion.c - what bash and zsh complete on a command line of the tool, made of the tables that `--help` prints. */
#include <stdio.h>
#include <string.h>

#include "cmd.h"

static void print_choices(const option_row *o) {
    for (int i = 0; o->choice && o->choice(i); i++)
        printf(i ? " %s" : "%s", o->choice(i));
}

static void print_catalogue(void) {
    for (int64_t i = 0; uf_catalogue(i); i++)
        printf(i ? " %s" : "%s", uf_catalogue(i));
}

static void print_verb_names(void) {
    for (int i = 0; verb_at(i); i++)
        printf("%s ", verb_at(i)->name);
    printf("help");
}

/* ---- bash ---- */

/* The options whose values are listed, as patterns of a case statement. */
static void print_bash_values(const verb *v) {
    for (int i = 0; option_at(i); i++) {
        const option_row *o = option_at(i);
        if (!(o->verbs & v->bit) || !o->choice)
            continue;
        printf("        %s:--%s%s", v->name, o->name, o->letter ? "" : ")");
        if (o->letter)
            printf("|%s:-%c)", v->name, o->letter);
        printf(" COMPREPLY=($(compgen -W '");
        print_choices(o);
        printf("' -- \"$word\")); return ;;\n");
    }
}

static void print_bash_options(const verb *v) {
    printf("        %s) options='", v->name);
    for (int i = 0; option_at(i); i++)
        if (option_at(i)->verbs & v->bit)
            printf("--%s ", option_at(i)->name);
    printf("' ;;\n");
}

static void print_bash(void) {
    printf("# Made by `ufunc help --completion bash`.\n_ufunc() {\n    local word=${COMP_WORDS[COMP_CWORD]} "
           "before=${COMP_WORDS[COMP_CWORD-1]} "
           "verb=${COMP_WORDS[1]} options=\n    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W '");
    print_verb_names();
    printf(" --help --version' -- \"$word\"))\n        return\n    fi\n    case $verb:$before in\n");
    for (int i = 0; verb_at(i); i++)
        print_bash_values(verb_at(i));
    printf("        help:*) COMPREPLY=($(compgen -W '");
    print_verb_names();
    printf("' -- \"$word\")); return ;;\n    esac\n    case $verb in\n");
    for (int i = 0; verb_at(i); i++)
        print_bash_options(verb_at(i));
    printf(
        "    esac\n    case $word in\n        -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n        *)\n"
        "            mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n            [ \"$COMP_CWORD\" != 2 ] && [ "
        "\"$verb\" != "
        "list ] ||\n"
        "                COMPREPLY+=($(compgen -W '");
    print_catalogue();
    printf("' -- \"$word\")) ;;\n    esac\n}\ncomplete -o filenames -F _ufunc ufunc\n");
}

/* ---- zsh ---- */

/* Prints text within single quotes of a specification, in which colons and brackets are special. */
static void print_zsh_text(const char *text) {
    for (; *text; text++)
        switch (*text) {
        case '\'':
            fputs("'\\''", stdout);
            break;
        case ':':
        case '[':
        case ']':
            printf("\\%c", *text);
            break;
        case '\n':
            putchar(' ');
            break;
        default:
            putchar(*text);
        }
}

static void print_zsh_option(const option_row *o) {
    printf("                ");
    if (o->letter)
        printf("'(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter, o->name);
    else
        printf("'--%s[", o->name);
    print_zsh_text(o->help);
    printf("]");
    if (o->value) {
        printf(":");
        print_zsh_text(o->value);
        printf(":");
    }
    if (o->choice) {
        printf("(");
        print_choices(o);
        printf(")");
    } else if (o->value) {
        printf("_files");
    }
    printf("' \\\n");
}

static void print_zsh_verb(const verb *v) {
    printf("        %s)\n            _arguments -s \\\n", v->name);
    for (int i = 0; option_at(i); i++)
        if (option_at(i)->verbs & v->bit)
            print_zsh_option(option_at(i));
    if (v->function)
        printf("                '1:function:_ufunc_functions' ");
    if (v->most)
        printf("                '*:%s:%s'", v->function ? "input" : "function",
               v->function ? "_files" : "_ufunc_functions");
    printf("\n            ;;\n");
}

static void print_zsh(void) {
    printf("#compdef ufunc\n# Made by `ufunc help --completion zsh`.\n_ufunc_functions() {\n    local -a functions=(");
    print_catalogue();
    printf(")\n    _alternative 'functions:function of the catalogue:($functions)' "
           "'files:file:_files'\n}\n_ufunc_verbs() {\n    local -a "
           "verbs=(\n");
    for (int i = 0; verb_at(i); i++) {
        printf("        '%s:", verb_at(i)->name);
        print_zsh_text(verb_at(i)->summary);
        printf("'\n");
    }
    printf("        'help:the usage of a verb'\n    )\n    _describe verb verbs\n}\n_ufunc() {\n    if ((CURRENT == "
           "2)); then\n        _ufunc_verbs\n"
           "        return\n    fi\n    local verb=$words[2]\n    shift words\n    ((CURRENT--))\n    case $verb in\n");
    for (int i = 0; verb_at(i); i++)
        print_zsh_verb(verb_at(i));
    printf("        help) _ufunc_verbs ;;\n    esac\n}\n_ufunc \"$@\"\n");
}

bool print_completion(const char *shell) {
    if (strcmp(shell, "bash") == 0)
        print_bash();
    else if (strcmp(shell, "zsh") == 0)
        print_zsh();
    else
        return false;
    return true;
}
